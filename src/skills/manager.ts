import { callHook } from "../base/call_hook.ts";
import { consoleLogger, type Logger } from "../base/ports.ts";
import {
  requireBoolean,
  requireList,
  requireMethods,
  requireObject,
  requireType,
} from "../base/require.ts";
import type { SkillCatalog } from "../context/skills.ts";
import { type AgentMessage, systemMessage } from "../messages/message.ts";
import {
  discoverSkills,
  type Discovery,
  type FoundSkill,
  type SkillDiagnostic,
} from "./discovery.ts";
import { SkillError } from "./errors.ts";
import { readFile } from "./file.ts";
import { requireSkillPath } from "./path.ts";
import { activeSkillText, skillIndexText } from "./prompt.ts";
import { mentionedSkill } from "./select.ts";
import type { Skill } from "./skill.ts";
import type { SkillSource, SkillSourceOptions } from "./source.ts";

/** Where a manager takes its skills from, and what it does with broken ones. */
export interface SkillManagerOptions {
  /** Where the skills come from. */
  readonly source?: SkillSource | undefined;
  /** Instead of `source`: several, listed one after the other. Of two skills of one name the first counts. */
  readonly sources?: readonly SkillSource[] | undefined;
  /**
   * True fails the start-up of the agent for a broken skill; false leaves the skill
   * out and reports it.
   *
   * @default {false}
   */
  readonly strict?: boolean | undefined;
  /**
   * Told of everything that is broken or unusual, after the skills were looked for.
   * If it throws, the logger is warned.
   */
  readonly onDiagnostic?: ((diagnostic: SkillDiagnostic) => void) | undefined;
  /** Warned of skills that were left out, if there is no `onDiagnostic`. @default {consoleLogger} */
  readonly logger?: Logger | undefined;
}

/**
 * The skills of an agent: folders with a `SKILL.md` that says when to use them and how.
 *
 * The model always sees the list of skills; the text of one only after the user asked
 * for it by `$name` or `skill:name`. Skills are looked for once, when the first agent
 * starts; each of their files is read at most once. What a skill says is untrusted input
 * to the model and grants nothing.
 *
 * @example Give an agent a skill
 * ```ts
 * import { Agent } from "@ejagent/core";
 * import { memorySkillSource, SkillManager } from "@ejagent/core/skills";
 * import { ScriptedModel, text } from "@ejagent/core/testing";
 * import { match } from "node:assert/strict";
 *
 * const skills = new SkillManager({
 *   source: memorySkillSource({ "haiku/SKILL.md": "Answer in 5-7-5 syllables." }),
 * });
 * const model = new ScriptedModel([text("An old silent pond")]);
 * const agent = new Agent({ agentId: "poet", model, skills });
 * await agent.runText("$haiku Tell me of ponds");
 *
 * match(JSON.stringify(model.contexts[0]?.llmMessages), /5-7-5/);
 * ```
 */
export class SkillManager implements SkillCatalog {
  readonly #sources: readonly SkillSource[];
  readonly #strict: boolean;
  readonly #onDiagnostic: ((diagnostic: SkillDiagnostic) => void) | undefined;
  readonly #logger: Logger;
  #discovery: Promise<void> | undefined;
  #found: Discovery = { skills: new Map(), diagnostics: [] };
  #index: AgentMessage | null = null;
  readonly #prepared = new Map<string, PreparedSkill>();

  /**
   * Reads nothing yet.
   *
   * @throws {TypeError} If there is no source or an option has the wrong type.
   * @throws {RangeError} If two sources have one id.
   */
  constructor(options: SkillManagerOptions) {
    requireObject("The options", options);
    this.#sources = requireSources(options);
    this.#strict = requireBoolean("strict", options.strict ?? false);
    this.#onDiagnostic = options.onDiagnostic;
    requireType(
      ["undefined", "function"].includes(typeof this.#onDiagnostic),
      "onDiagnostic",
      "a function",
    );
    this.#logger = options.logger ?? consoleLogger;
    requireMethods("logger", this.#logger, ["warn"]);
  }

  /** The skills that were found, in the order of the index; hidden ones are among them. */
  get skills(): readonly Skill[] {
    return [...this.#found.skills.values()].map(({ skill }) => skill);
  }

  /** What was broken or unusual when the skills were looked for. */
  get diagnostics(): readonly SkillDiagnostic[] {
    return this.#found.diagnostics;
  }

  /**
   * Looks for the skills, once; later calls wait for the first. After a failure the
   * next call looks again.
   *
   * @throws {SkillError} If a source does not exist or uses a name twice, or, if
   * strict, a skill is broken.
   */
  async discover(): Promise<void> {
    await (this.#discovery ?? this.#begin());
  }

  /**
   * Looks for the skills anew and forgets what was read of their files. A skill that
   * is active in a run keeps its instructions until it is asked for again.
   *
   * @throws {SkillError} As `discover`; what was found before stays then.
   */
  async refresh(): Promise<void> {
    await this.#begin();
  }

  /** The message that lists the skills; null if there is none to list. */
  indexMessage(): AgentMessage | null {
    return this.#index;
  }

  /** The name of the skill that a text mentions; null if it mentions none. */
  select(text: string): string | null {
    return mentionedSkill(text, [...this.#found.skills.keys()]);
  }

  /** A skill by its name. @throws {SkillError} If there is none of this name. */
  get(name: string): Skill {
    return this.#require(name).skill;
  }

  /**
   * Reads what `message` shows, unless it was read before.
   *
   * @throws {SkillError} If there is no such skill or a file of it cannot be used.
   */
  async prepare(name: string, options: SkillSourceOptions = {}): Promise<void> {
    const found = this.#require(name);
    if (this.#prepared.get(name)?.found === found) return;
    const texts = new Map<string, string>();
    for (const path of found.shown) {
      texts.set(path, await readOnce(found, path, options) ?? "");
    }
    const latest = this.#found.skills.get(name) ?? found;
    // A refresh in the meantime made all of this stale.
    if (latest !== found) return await this.prepare(name, options);
    const message = systemMessage(activeSkillText(name, texts));
    this.#prepared.set(name, { found, message });
  }

  /** The instructions of a skill that was prepared; null for any other. */
  message(name: string): AgentMessage | null {
    return this.#prepared.get(name)?.message ?? null;
  }

  /**
   * Reads any file of a skill.
   *
   * @param name A skill.
   * @param path Relative to its directory; names with `/` between them.
   * @returns The text; undefined if there is no such file.
   * @throws {SkillError} If there is no such skill, the path leads out of it, or the
   * file is too large or no text.
   */
  async read(
    name: string,
    path: string,
    options: SkillSourceOptions = {},
  ): Promise<string | undefined> {
    return await readOnce(
      this.#require(name),
      requireSkillPath(path),
      options,
    );
  }

  #begin(): Promise<void> {
    const discovery = this.#look(this.#discovery);
    discovery.catch(() => {
      if (this.#discovery === discovery) this.#discovery = undefined;
    });
    this.#discovery = discovery;
    return discovery;
  }

  /** One look begins when the other has ended, so that what stays is the latest. */
  async #look(previous: Promise<void> | undefined): Promise<void> {
    await previous?.catch(() => {});
    this.#found = await discoverSkills(this.#sources, this.#strict);
    const listed = this.skills.filter(({ hidden }) => !hidden);
    this.#index = listed.length === 0
      ? null
      : systemMessage(skillIndexText(listed));
    for (const diagnostic of this.diagnostics) this.#report(diagnostic);
  }

  #report(diagnostic: SkillDiagnostic): void {
    const { kind, message, location } = diagnostic;
    const tell = this.#onDiagnostic;
    if (tell !== undefined) {
      return callHook("onDiagnostic", this.#logger, () => tell(diagnostic));
    }
    const title = titles[kind];
    if (title !== null) this.#logger.warn(title, { message, location });
  }

  #require(name: string): FoundSkill {
    const found = this.#found.skills.get(name);
    if (found !== undefined) return found;
    const names = [...this.#found.skills.keys()].join(", ");
    throw new SkillError(`unknown skill "${name}" (available: ${names})`);
  }
}

/** What a logger is told; null for nothing. */
const titles: Readonly<Record<SkillDiagnostic["kind"], string | null>> = {
  left_out: "A skill is left out",
  no_skills: "A source of skills is empty",
  unusual: null,
};

/** What a run is shown of a skill. */
interface PreparedSkill {
  /** What it was read from; another one after a refresh. */
  readonly found: FoundSkill;
  readonly message: AgentMessage;
}

async function readOnce(
  { skill, source, texts }: FoundSkill,
  path: string,
  options: SkillSourceOptions,
): Promise<string | undefined> {
  const known = texts.get(path);
  if (known !== undefined) return known;
  const text = await readFile(source, { dir: skill.dir, path, ...options });
  if (text !== undefined) texts.set(path, text);
  return text;
}

function requireSources(
  { source, sources }: SkillManagerOptions,
): readonly SkillSource[] {
  if ((source === undefined) === (sources === undefined)) {
    throw new TypeError("SkillManager needs either source or sources");
  }
  const all = source === undefined
    ? [...requireList("sources", sources ?? [])]
    : [source];
  for (const each of all) requireMethods("source", each, ["list", "read"]);
  if (all.length === 0) throw new TypeError("sources must not be empty");
  if (new Set(all.map(({ id }) => id)).size < all.length) {
    throw new RangeError("Two sources of skills have the same id");
  }
  return all;
}
