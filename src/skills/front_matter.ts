import { parseDocument, YAMLParseError } from "yaml";
import { AgentConfigurationError, errorText } from "../base/errors.ts";
import { frozenCopy } from "../base/freeze.ts";
import { isJsonObject } from "../base/json.ts";
import { SkillError } from "./errors.ts";

/** The two parts of a `SKILL.md`. */
export interface SkillMarkdown {
  /** What stands between the two `---` lines at the beginning; empty without them. */
  readonly frontMatter: Readonly<Record<string, unknown>>;
  /** The instructions, trimmed. */
  readonly body: string;
}

/**
 * Splits a `SKILL.md` into its front matter and its instructions.
 *
 * The front matter stands between a first line `---` and the next line `---`; blanks
 * behind the dashes, a byte order mark and any kind of line end are allowed. A text
 * that does not begin so, or whose block does not end, has none. It is read as YAML
 * 1.2 with JSON's types: `yes` is a text; of a key that comes twice the last wins.
 *
 * @param location Named in errors.
 * @throws {SkillError} If the front matter is no YAML or no mapping.
 *
 * @example Front matter and body
 * ```ts
 * import { parseSkillMarkdown } from "@ejagent/core/skills";
 * import { deepEqual } from "node:assert/strict";
 *
 * deepEqual(parseSkillMarkdown("---\nname: pdf\n---\nRead page by page.\n"), {
 *   frontMatter: { name: "pdf" },
 *   body: "Read page by page.",
 * });
 * ```
 */
export function parseSkillMarkdown(
  text: string,
  location = "SKILL.md",
): SkillMarkdown {
  const plain = text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const found = block.exec(plain);
  if (found === null) return { frontMatter: {}, body: plain.trim() };
  return {
    frontMatter: parseMapping(found[1] ?? "", location),
    body: plain.slice(found[0].length).trim(),
  };
}

const block = /^---[ \t]*\n(?:(.*?)\n)??---[ \t]*(?:\n|$)/s;

/** What is unusual about how a `SKILL.md` begins; undefined if nothing is. */
export function frontMatterWarning(text: string): string | undefined {
  const plain = text.replace(/^\uFEFF/, "");
  if (!/^---[ \t]*[\r\n]/.test(plain)) {
    return "There is no front matter, so models do not learn what it is for";
  }
  return block.test(plain.replace(/\r\n?/g, "\n"))
    ? undefined
    : "The front matter has no end, a line ---, and is not read";
}

/** A document that repeats itself more often is only there to blow up. */
const maxAliasCount = 100;

/** The block begins behind the line of its dashes. */
const linesBefore = 1;

function parseMapping(yaml: string, location: string): Record<string, unknown> {
  const value = parseYaml(yaml, location) ?? {};
  if (isJsonObject(value)) return value;
  throw new SkillError(
    `SKILL.md front matter must be a mapping: ${location}`,
    { location },
  );
}

function parseYaml(yaml: string, location: string): unknown {
  try {
    const document = parseDocument(yaml, {
      schema: "core",
      uniqueKeys: false,
      logLevel: "error",
    });
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return frozenCopy(document.toJS({ maxAliasCount }));
  } catch (cause) {
    throw isForbidden(cause)
      ? new AgentConfigurationError(
        "Reading skills needs two environment variables that the YAML parser looks for; run Deno with --allow-env=LOG_TOKENS,LOG_STREAM",
        { cause },
      )
      : invalidYaml(cause, location);
  }
}

function invalidYaml(cause: unknown, location: string): SkillError {
  const error = cause instanceof YAMLParseError ? cause : undefined;
  const position = error?.linePos?.[0].line;
  const line = position === undefined ? undefined : position + linesBefore;
  const place = line === undefined ? location : `${location}, line ${line}`;
  // The parser counts lines from the beginning of the block.
  const problem = errorText(cause).replace(/ at line \d+, column \d+:.*/s, "");
  const remedy = error?.code === "BLOCK_AS_IMPLICIT_KEY"
    ? '; put a text that holds ": " in quotes'
    : "";
  return new SkillError(
    `SKILL.md front matter is no valid YAML: ${place}: ${problem}${remedy}`,
    { location, cause, ...(line !== undefined && { line }) },
  );
}

/** What Deno throws when a program may not read its environment. */
function isForbidden(error: unknown): boolean {
  return error instanceof Error &&
    (error.name === "NotCapable" || error.name === "PermissionDenied");
}
