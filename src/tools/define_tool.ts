import { throwIfAborted } from "../base/abort.ts";
import { errorText } from "../base/errors.ts";
import { frozen } from "../base/freeze.ts";
import { isJsonObject } from "../base/json.ts";
import { consoleLogger, type Logger } from "../base/ports.ts";
import { requireMethods } from "../base/require.ts";
import type { OpenAIFunctionTool, ToolEffect } from "../messages/tool.ts";
import { ToolDefinition } from "./definition.ts";
import { UnknownToolError } from "./errors.ts";
import {
  executionContext,
  standaloneContext,
  type ToolDispatchOptions,
  type ToolExecutionContext,
} from "./execution_context.ts";
import { BaseHandler, type ToolHandler, uniqueDefinitions } from "./handler.ts";
import type { InferJsonSchema } from "./infer_schema.ts";
import {
  type InvalidArguments,
  invalidArguments,
} from "./invalid_arguments.ts";
import type { ToolCallContext } from "./middleware.ts";
import { isStepOutcome, proceed, type StepOutcome } from "./outcome.ts";
import {
  describesNoObject,
  issuePointer,
  jsonSchemaOf,
  objectExpected,
  type StandardInput,
  type StandardIssue,
  type StandardOutput,
  type StandardResult,
  type StandardSchema,
  standardSchemaOf,
  type StandardSchemaProps,
} from "./standard_schema.ts";

const execution: unique symbol = Symbol.for("ejagent.DefinedTool");

/**
 * What describes the arguments of a tool: a Standard Schema, a JSON Schema literal, or
 * a JSON Schema that a library made. Everything else is refused when the tool is made.
 */
export type ToolParameters = object;

/** The arguments that `execute` gets. */
export type ToolArguments<P> = P extends StandardSchema ? StandardOutput<P>
  : InferJsonSchema<P> extends Record<string, unknown> ? InferJsonSchema<P>
  : Record<string, unknown>;

/** The arguments that a caller gives. */
export type ToolArgumentsInput<P> = P extends StandardSchema ? StandardInput<P>
  : ToolArguments<P>;

/** The data of the outcome that a tool produces. */
export type ToolData<R> = R extends StepOutcome<infer Data> ? Data
  : R extends undefined | void ? null
  : R;

/** How {@linkcode defineTool} is told about a tool. */
export interface DefineToolOptions<P, R> {
  /** 1 to 64 characters out of ASCII letters, digits, `_` and `-`. */
  readonly name: string;
  /** What the model reads. */
  readonly description?: string | undefined;
  /** What the tool takes; without it the arguments are passed on as they are. */
  readonly parameters?: P | undefined;
  /** JSON Schema for the model if `parameters` cannot describe themselves. */
  readonly jsonSchema?: object | undefined;
  /** What the tool does to the world. @default {"side_effecting"} */
  readonly effect?: ToolEffect | undefined;
  /** The provider's strict mode; the schema is never rewritten for it. */
  readonly strict?: boolean | undefined;
  /**
   * Shows the model what the schema library says about wrong arguments; some
   * libraries quote the value.
   *
   * @default {false}
   */
  readonly exposeIssueMessages?: boolean | undefined;
  /**
   * Told what `parameters` threw instead of finding issues; the call is refused like
   * one with issues.
   *
   * @default {consoleLogger}
   */
  readonly logger?: Logger | undefined;
  /**
   * Does the work. A plain value goes to the model and the run goes on; a
   * {@linkcode StepOutcome} is taken as it is. A rejection becomes an error
   * result that the model reads.
   */
  readonly execute: (
    args: ToolArguments<P>,
    context: ToolExecutionContext,
  ) => R | Promise<R>;
}

/** A tool together with its implementation, made by {@linkcode defineTool}. */
export interface DefinedTool<Input = unknown, Data = unknown> {
  /** What the model is told. */
  readonly definition: ToolDefinition;
  /** The form that providers take; a fresh copy. */
  toOpenAITool(): OpenAIFunctionTool;
  /**
   * Calls the tool without an agent, as unit tests do.
   *
   * @param options What the tool is told about the agent; all of it may be left out.
   * @returns The outcome; its data are {@linkcode InvalidArguments} if a
   * Standard Schema refused the arguments.
   */
  invoke(
    args: Input,
    options?: ToolDispatchOptions,
  ): Promise<StepOutcome<Data | InvalidArguments>>;
  /**
   * Calls the tool for an agent.
   *
   * @ignore
   */
  readonly [execution]: (context: ToolCallContext) => Promise<StepOutcome>;
}

/** What may stand in a list of tools. */
export type ToolInput = DefinedTool | ToolHandler | readonly ToolInput[];

/**
 * Makes a tool out of a description and a function.
 *
 * `parameters` is a Standard Schema (zod, arktype, valibot with its converter),
 * which also checks the arguments right before `execute`, or a JSON Schema
 * literal, which only describes them. In both cases `execute` knows the types. What
 * `z.toJSONSchema` makes is both: it is shown as it is, and zod checks the arguments.
 *
 * @throws {ToolDefinitionError} The name is not usable, or `parameters` cannot
 * be turned into the JSON Schema of an object.
 * @throws {TypeError} There is no `execute`.
 *
 * @example Add two numbers
 * ```ts
 * import { defineTool } from "@ejagent/core";
 * import { deepEqual } from "node:assert/strict";
 *
 * const add = defineTool({
 *   name: "add",
 *   description: "Adds two numbers.",
 *   parameters: {
 *     type: "object",
 *     properties: { left: { type: "number" }, right: { type: "number" } },
 *     required: ["left", "right"],
 *   },
 *   effect: "read_only",
 *   execute: ({ left, right }) => ({ sum: left + right }),
 * });
 *
 * deepEqual((await add.invoke({ left: 19, right: 23 })).data, { sum: 42 });
 * ```
 */
export function defineTool<
  const P extends ToolParameters = Record<never, never>,
  R = unknown,
>(
  options: DefineToolOptions<P, R>,
): DefinedTool<ToolArgumentsInput<P>, ToolData<R>> {
  requireMethods("A tool", options, ["execute"]);
  const { name, description, effect, strict } = options;
  const schema = standardSchemaOf(options.parameters, name);
  const parameters = options.jsonSchema ??
    (schema
      ? jsonSchemaOf(schema, name, options.parameters!)
      : options.parameters);
  if (describesNoObject(parameters)) throw objectExpected(name);
  const definition = new ToolDefinition({
    name,
    description,
    parameters,
    effect,
    strict,
  });

  async function run(args: unknown, context: ToolExecutionContext) {
    const checked = schema
      ? await checkedBy(schema, args, options)
      : { value: args };
    if (checked.issues !== undefined) return refusal(checked.issues, options);
    if (schema) throwIfAborted(context.signal); // it may have taken its time
    const produced = await options.execute(
      checked.value as ToolArguments<P>,
      context,
    );
    return isStepOutcome(produced) ? produced : proceed(produced ?? null);
  }

  return frozen({
    definition,
    toOpenAITool: () => definition.toOpenAITool(),
    invoke(args: ToolArgumentsInput<P>, given: ToolDispatchOptions = {}) {
      const values = args as Readonly<Record<string, unknown>>;
      const context = standaloneContext(name, values, {
        toolDefinition: definition,
        ...given,
      });
      return run(args, context) as Promise<StepOutcome<ToolData<R>>>;
    },
    [execution]: (context: ToolCallContext) =>
      run(context.arguments, executionContext(context)),
  });
}

/** True for tools that {@linkcode defineTool} made, also those of another copy of this package. */
export function isDefinedTool(value: unknown): value is DefinedTool {
  return execution in Object(value);
}

/**
 * A handler of tools that {@linkcode defineTool} made.
 *
 * Lists of tools become sets by themselves; a set of one's own is good for
 * passing a group around.
 *
 * @example A group of tools
 * ```ts
 * import { defineTool, ToolSet } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const greetings = new ToolSet([
 *   defineTool({ name: "hello", execute: () => "Hello!" }),
 *   defineTool({ name: "bye", execute: () => "Bye!" }),
 * ]);
 * equal((await greetings.dispatch("bye", {})).data, "Bye!");
 * ```
 */
export class ToolSet extends BaseHandler {
  /** The definitions, in the given order. */
  readonly tools: readonly ToolDefinition[];
  readonly #byName: ReadonlyMap<string, DefinedTool>;

  /** Takes tools in the order in which the model is to see them. @throws {DuplicateToolError} Two share a name. */
  constructor(tools: readonly DefinedTool[]) {
    super();
    this.tools = frozen(
      uniqueDefinitions(tools.map((tool) => tool.definition), "ToolSet"),
    );
    this.#byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
  }

  /** Calls the tool. @throws {UnknownToolError} As a rejection: the set does not have it. */
  override async execute(context: ToolCallContext): Promise<StepOutcome> {
    return await this.#toolOf(context.toolName)[execution](context);
  }

  /** Calls the tool without an agent. @throws {UnknownToolError} As a rejection. */
  async dispatch(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options?: ToolDispatchOptions,
  ): Promise<StepOutcome> {
    return await this.#toolOf(name).invoke(args, options);
  }

  #toolOf(name: string): DefinedTool {
    const tool = this.#byName.get(name);
    if (tool !== undefined) return tool;
    throw new UnknownToolError(name, this.#byName.keys());
  }
}

/**
 * Turns a list of tools into handlers, in order; neighbouring defined tools
 * share one.
 *
 * @throws {DuplicateToolError} Two defined tools have the same name.
 * @throws {TypeError} An entry is neither a tool nor a handler.
 */
export function toHandlers(
  tools: readonly ToolInput[],
): readonly ToolHandler[] {
  const entries = (tools as readonly unknown[]).flat(Infinity);
  const defined = entries.filter(isDefinedTool);
  uniqueDefinitions(defined.map((tool) => tool.definition), "defineTool");
  const handlers: ToolHandler[] = [];
  let neighbours: DefinedTool[] = [];
  const closeSet = () => {
    if (neighbours.length > 0) handlers.push(new ToolSet(neighbours));
    neighbours = [];
  };
  for (const entry of entries) {
    if (isDefinedTool(entry)) {
      neighbours.push(entry);
    } else {
      closeSet();
      handlers.push(requireHandler(entry));
    }
  }
  closeSet();
  return handlers;
}

function requireHandler(value: unknown): ToolHandler {
  if (
    isJsonObject(value) && typeof value.execute === "function" &&
    "toolDefinitions" in value
  ) {
    return value as unknown as ToolHandler;
  }
  throw new TypeError(
    "Every tool must be made by defineTool or be a ToolHandler",
  );
}

/** What a schema throws may quote the value: it is logged and not shown. */
async function checkedBy(
  schema: StandardSchemaProps,
  args: unknown,
  { name, logger = consoleLogger }: {
    readonly name: string;
    readonly logger?: Logger | undefined;
  },
): Promise<StandardResult<unknown>> {
  try {
    return await schema.validate(args);
  } catch (thrown) {
    const message = errorText(thrown);
    logger.warn(`The schema of tool "${name}" failed`, { error: message });
    return { issues: [{ message }] };
  }
}

function refusal(
  issues: readonly StandardIssue[],
  { name, exposeIssueMessages }: {
    readonly name: string;
    readonly exposeIssueMessages?: boolean | undefined;
  },
): StepOutcome<InvalidArguments> {
  const errors = issues.map((issue) => ({
    path: issuePointer(issue),
    keyword: "schema",
    message: exposeIssueMessages ? issue.message : "value is not allowed here",
  }));
  return invalidArguments(name, errors);
}
