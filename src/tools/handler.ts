import { frozen } from "../base/freeze.ts";
import type { OpenAIFunctionTool, ToolEffect } from "../messages/tool.ts";
import {
  normalizeToolDefinition,
  normalizeToolDefinitions,
  type ToolDefinition,
  type ToolDefinitionInput,
  toolDefinitionsEqual,
} from "./definition.ts";
import {
  DuplicateToolError,
  ToolDefinitionError,
  UnknownToolError,
} from "./errors.ts";
import {
  standaloneContext,
  type ToolDispatchOptions,
  type ToolExecutionContext,
} from "./execution_context.ts";
import type { ToolCallContext } from "./middleware.ts";
import { isStepOutcome, type StepOutcome } from "./outcome.ts";

/**
 * Owns a group of tools and executes their calls.
 *
 * A handler belongs to one agent, which starts it up before the first run, tells
 * it about every run, and shuts it down.
 */
export interface ToolHandler {
  /** The tools as they are now. A changed list takes effect at the next turn. */
  readonly toolDefinitions: readonly ToolDefinition[];
  /** Their names, same order. */
  readonly toolNames: readonly string[];
  /** The effect of a tool if it is not the one of its definition. */
  toolEffect?(name: string): ToolEffect;
  /** Makes the handler ready; a rejection fails the start-up of the agent. */
  startup?(): void | Promise<void>;
  /** Gives back what `startup` took. */
  shutdown?(): void | Promise<void>;
  /** Called at the start of every run; a rejection fails the run. */
  onTaskStart?(): void | Promise<void>;
  /** Executes one call; a rejection becomes an error result that the model reads. */
  execute(context: ToolCallContext): StepOutcome | Promise<StepOutcome>;
}

/**
 * A handler that is told what it needs to execute a call and nothing else.
 *
 * @example A handler that answers with the time of its birth
 * ```ts
 * import { BaseHandler, proceed, type StepOutcome } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * class BirthHandler extends BaseHandler {
 *   readonly tools = [{ name: "birth", effect: "read_only" as const }];
 *
 *   dispatch(): StepOutcome {
 *     return proceed("in the beginning");
 *   }
 * }
 *
 * equal(new BirthHandler().dispatch().data, "in the beginning");
 * ```
 */
export abstract class BaseHandler implements ToolHandler {
  #inputs: readonly ToolDefinitionInput[] = [];
  #definitions: readonly ToolDefinition[] = [];

  /** The tools as they are now, in any form. */
  abstract readonly tools: readonly ToolDefinitionInput[];

  /** Executes one tool. @param options What a caller without an agent leaves out. */
  abstract dispatch(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options?: ToolDispatchOptions,
  ): StepOutcome | Promise<StepOutcome>;

  /** The tools as they are now; the same list until one of them changes. */
  get toolDefinitions(): readonly ToolDefinition[] {
    const inputs = this.tools;
    if (!sameItems(inputs, this.#inputs, Object.is)) {
      const definitions = normalizeToolDefinitions(inputs);
      if (!sameItems(definitions, this.#definitions, toolDefinitionsEqual)) {
        this.#definitions = definitions;
      }
      this.#inputs = [...inputs];
    }
    return this.#definitions;
  }

  /** Names of the tools, same order. */
  get toolNames(): readonly string[] {
    return this.toolDefinitions.map((definition) => definition.name);
  }

  /** True if this handler has the tool. */
  canHandle(name: string): boolean {
    return this.toolDefinitions.some((definition) => definition.name === name);
  }

  /** What the tool does to the world. @throws {UnknownToolError} This handler does not have it. */
  toolEffect(name: string): ToolEffect {
    return definitionIn(this.toolDefinitions, name).effect;
  }

  /** Does nothing unless overridden. */
  startup(): void | Promise<void> {}

  /** Does nothing unless overridden. */
  shutdown(): void | Promise<void> {}

  /** Does nothing unless overridden. */
  onTaskStart(): void | Promise<void> {}

  /** Hands the call to {@linkcode dispatch}, the whole context as its options. */
  execute(context: ToolCallContext): StepOutcome | Promise<StepOutcome> {
    return this.dispatch(context.toolName, context.arguments, context);
  }
}

/** What a {@linkcode MethodToolHandler} may be told besides its tools. */
export interface MethodToolHandlerOptions {
  /** Effects by tool name; they replace those of the definitions. */
  readonly toolEffects?: Readonly<Record<string, ToolEffect>> | undefined;
}

/**
 * A handler whose subclass has one method for each tool.
 *
 * The tool `write_value` is executed by the method `do_write_value` or, without
 * one, `doWriteValue`; it gets a copy of the arguments and the context of the
 * call and returns a {@linkcode StepOutcome} or a promise of one.
 *
 * @example Two ways to name a method
 * ```ts
 * import { complete, MethodToolHandler, proceed, type StepOutcome } from "@ejagent/core";
 * import { deepEqual } from "node:assert/strict";
 *
 * class NotesHandler extends MethodToolHandler {
 *   #notes: string[] = [];
 *
 *   constructor() {
 *     super([{ name: "add_note" }, { name: "finish" }]);
 *   }
 *
 *   doAddNote(args: Record<string, unknown>): StepOutcome {
 *     this.#notes.push(String(args.text));
 *     return proceed({ count: this.#notes.length });
 *   }
 *
 *   do_finish(): StepOutcome {
 *     return complete(this.#notes);
 *   }
 * }
 *
 * const handler = new NotesHandler();
 * const outcome = await handler.dispatch("add_note", { text: "milk" });
 * deepEqual(outcome.data, { count: 1 });
 * ```
 */
export class MethodToolHandler extends BaseHandler {
  readonly #definitions: readonly ToolDefinition[];

  /**
   * Reads the definitions once; methods are looked for at start-up.
   *
   * @param tools Definitions in any form.
   * @throws {ToolDefinitionError} A definition is wrong, a name occurs twice, or
   * `toolEffects` names no tool or no effect.
   */
  constructor(
    tools: readonly ToolDefinitionInput[],
    options: MethodToolHandlerOptions = {},
  ) {
    super();
    const { toolEffects = {} } = options;
    const owner = new.target.name;
    const definitions = uniqueDefinitions(tools, owner).map((definition) =>
      Object.hasOwn(toolEffects, definition.name)
        ? definition.withEffect(toolEffects[definition.name]!)
        : definition
    );
    requireKnownTools(Object.keys(toolEffects), definitions, owner);
    this.#definitions = frozen(definitions);
  }

  /** The tools in the function-calling form; fresh copies. */
  get tools(): readonly OpenAIFunctionTool[] {
    return this.#definitions.map((definition) => definition.toOpenAITool());
  }

  /** The tools; always the same list. */
  override get toolDefinitions(): readonly ToolDefinition[] {
    return this.#definitions;
  }

  /** Checks that every tool has its method. @throws {ToolDefinitionError} One has none. */
  override startup(): void | Promise<void> {
    for (const { name } of this.#definitions) this.#methodNameOf(name);
  }

  /**
   * Calls the method of a tool.
   *
   * @throws {UnknownToolError} As a rejection: no definition has this name, whatever methods exist.
   * @throws {ToolDefinitionError} As a rejection: the tool has no method.
   * @throws {TypeError} As a rejection: the method returned no outcome.
   */
  async dispatch(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options: ToolDispatchOptions = {},
  ): Promise<StepOutcome> {
    const toolDefinition = definitionIn(this.#definitions, name);
    const methodName = this.#methodNameOf(name);
    const context = standaloneContext(name, args, {
      toolDefinition,
      ...options,
    });
    const method = (this as unknown as Record<string, ToolMethod>)[methodName]!;
    const outcome = await method.call(this, { ...args }, context);
    if (!isStepOutcome(outcome)) {
      throw new TypeError(`${methodName} must return a StepOutcome`);
    }
    return outcome;
  }

  // Methods may be fields of the subclass, which do not exist yet in the constructor.
  #methodNameOf(toolName: string): string {
    const names = [`do_${toolName}`, `do${pascalCase(toolName)}`];
    const members = this as unknown as Record<string, unknown>;
    const found = names.find((name) => typeof members[name] === "function");
    if (found === undefined) {
      throw new ToolDefinitionError(
        `tool "${toolName}" has no method (looked for ${names.join(", ")})`,
        { toolName },
      );
    }
    return found;
  }
}

type ToolMethod = (
  args: Record<string, unknown>,
  context: ToolExecutionContext,
) => unknown;

/**
 * Brings definitions into one form and refuses names that occur twice.
 *
 * @throws {DuplicateToolError} Naming the tool and its owner.
 */
export function uniqueDefinitions(
  inputs: readonly ToolDefinitionInput[],
  owner: string,
): readonly ToolDefinition[] {
  const names = new Set<string>();
  return inputs.map((input) => {
    const definition = normalizeToolDefinition(input);
    const { name } = definition;
    if (names.has(name)) throw new DuplicateToolError(name, [owner, owner]);
    names.add(name);
    return definition;
  });
}

/** The definition with a name. @throws {UnknownToolError} There is none. */
export function definitionIn(
  definitions: readonly ToolDefinition[],
  name: string,
): ToolDefinition {
  const found = definitions.find((definition) => definition.name === name);
  if (found !== undefined) return found;
  throw new UnknownToolError(name, definitions.map((known) => known.name));
}

function requireKnownTools(
  names: readonly string[],
  definitions: readonly ToolDefinition[],
  owner: string,
): void {
  const unknown = names
    .filter((name) => definitions.every((known) => known.name !== name))
    .sort();
  if (unknown.length === 0) return;
  throw new ToolDefinitionError(
    `${owner} has effects for unknown tools: ${unknown.join(", ")}`,
  );
}

function sameItems<T>(
  left: readonly T[],
  right: readonly T[],
  same: (left: T, right: T) => boolean,
): boolean {
  return left.length === right.length &&
    left.every((item, index) => same(item, right[index]!));
}

function pascalCase(name: string): string {
  return name.split(/[_-]/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join("");
}
