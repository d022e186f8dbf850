import { frozen, frozenCopy } from "../base/freeze.ts";
import {
  canonicalJson,
  isJsonObject,
  isPlainObject,
  type JsonObject,
} from "../base/json.ts";
import type {
  OpenAIFunctionTool,
  ToolDefinitionView,
  ToolEffect,
} from "../messages/tool.ts";
import { brokenRule, ToolDefinitionError } from "./errors.ts";

const brand: unique symbol = Symbol.for("ejagent.ToolDefinition");

/** What a {@linkcode ToolDefinition} is made from. */
export interface ToolDefinitionInit {
  /** 1 to 64 characters out of ASCII letters, digits, `_` and `-`. */
  readonly name: string;
  /** What the model reads. */
  readonly description?: string | undefined;
  /** JSON Schema of the arguments; copied. */
  readonly parameters?: object | undefined;
  /** What the tool does to the world. @default {"side_effecting"} */
  readonly effect?: ToolEffect | undefined;
  /** The provider's strict mode. */
  readonly strict?: boolean | undefined;
}

/** Every form in which a tool may be described. */
export type ToolDefinitionInput =
  | ToolDefinition
  | ToolDefinitionInit
  | OpenAIFunctionTool;

/** What a definition in another form may be given. */
export interface NormalizeToolOptions {
  /** Replaces the effect of the input. */
  readonly effect?: ToolEffect | undefined;
}

/**
 * Describes a tool: its name, what the model reads about it, what it takes and
 * what it does to the world. Immutable all the way down.
 *
 * @example The form that providers take
 * ```ts
 * import { ToolDefinition } from "@ejagent/core";
 * import { deepEqual } from "node:assert/strict";
 *
 * const search = new ToolDefinition({ name: "search", effect: "read_only" });
 * deepEqual(search.toOpenAITool(), { type: "function", function: { name: "search" } });
 * ```
 */
export class ToolDefinition implements ToolDefinitionView {
  /** 1 to 64 characters out of ASCII letters, digits, `_` and `-`. */
  readonly name: string;
  /** What the model reads. */
  readonly description: string | undefined;
  /** JSON Schema of the arguments, frozen. */
  readonly parameters: JsonObject | undefined;
  /** What the tool does to the world. */
  readonly effect: ToolEffect;
  /** The provider's strict mode; undefined leaves it to the provider. */
  readonly strict: boolean | undefined;

  /**
   * Checks and copies a description.
   *
   * @param init `null` members count as absent.
   * @throws {ToolDefinitionError} A member is wrong. Whether `parameters` is a
   * meaningful schema is not checked.
   */
  constructor(init: ToolDefinitionInit) {
    if (!isJsonObject(init)) {
      throw new ToolDefinitionError("A tool definition must be an object");
    }
    const toolName = requireName(init.name);
    this.name = toolName;
    this.description = optional(
      init.description,
      "string",
      toolName,
      "description must be a string",
    );
    this.parameters = copyParameters(init.parameters, toolName);
    this.effect = requireEffect(init.effect ?? "side_effecting", toolName);
    this.strict = optional(
      init.strict,
      "boolean",
      toolName,
      "strict must be true or false",
    );
    frozen(this);
  }

  static {
    Object.defineProperty(this.prototype, brand, { value: true });
  }

  /**
   * Reads the function-calling form; members that it does not define are ignored.
   *
   * @throws {ToolDefinitionError} It is no function tool.
   */
  static fromOpenAITool(
    tool: OpenAIFunctionTool,
    options: NormalizeToolOptions = {},
  ): ToolDefinition {
    if (
      !isJsonObject(tool) || tool.type !== "function" ||
      !isJsonObject(tool.function)
    ) {
      throw new ToolDefinitionError(
        'A tool must be an object of type "function" with an object function',
      );
    }
    return new ToolDefinition({ ...tool.function, effect: options.effect });
  }

  /** The function-calling form: a fresh copy that may be changed. Absent members are left out. */
  toOpenAITool(): OpenAIFunctionTool {
    return structuredClone(openAIToolView(this));
  }

  /** The same tool with another effect. @throws {ToolDefinitionError} It is no effect. */
  withEffect(effect: ToolEffect): ToolDefinition {
    return new ToolDefinition({
      ...this,
      effect: requireEffect(effect, this.name),
    });
  }
}

/** True for definitions of every copy of this package. */
export function isToolDefinition(value: unknown): value is ToolDefinition {
  return brand in Object(value);
}

/**
 * Brings any form of a definition into one.
 *
 * @returns The input itself if it is a definition that needs no change.
 * @throws {ToolDefinitionError} A member is wrong.
 */
export function normalizeToolDefinition(
  input: ToolDefinitionInput,
  options: NormalizeToolOptions = {},
): ToolDefinition {
  const { effect } = options;
  if (isToolDefinition(input)) {
    return effect === undefined ? input : input.withEffect(effect);
  }
  if (isJsonObject(input) && "type" in input) {
    return ToolDefinition.fromOpenAITool(input as OpenAIFunctionTool, options);
  }
  const definition = new ToolDefinition(input as ToolDefinitionInit);
  return normalizeToolDefinition(definition, options);
}

/** Brings a list of definitions into one form, in order. @throws {ToolDefinitionError} One is wrong. */
export function normalizeToolDefinitions(
  inputs: readonly ToolDefinitionInput[],
): readonly ToolDefinition[] {
  return frozen(inputs.map((input) => normalizeToolDefinition(input)));
}

/** True if both describe the same tool in the same way. */
export function toolDefinitionsEqual(
  left: ToolDefinitionView,
  right: ToolDefinitionView,
): boolean {
  return left === right ||
    left.name === right.name && left.description === right.description &&
      left.effect === right.effect && left.strict === right.strict &&
      (left.parameters === right.parameters ||
        canonicalJson(left.parameters) === canonicalJson(right.parameters));
}

const views = new WeakMap<ToolDefinitionView, OpenAIFunctionTool>();

/** The function-calling form of a definition, made once and frozen. */
export function openAIToolView(
  definition: ToolDefinitionView,
): OpenAIFunctionTool {
  let view = views.get(definition);
  if (view === undefined) {
    const { name, description, parameters, strict } = definition;
    view = frozenCopy({
      type: "function",
      function: { name, description, parameters, strict },
    }) as OpenAIFunctionTool;
    views.set(definition, view);
  }
  return view;
}

/** Checks an effect. @throws {ToolDefinitionError} It is none. */
export function requireEffect(effect: unknown, toolName: string): ToolEffect {
  if (isEffect(effect)) return effect;
  throw brokenRule(toolName, "effect must be read_only or side_effecting");
}

function requireName(name: unknown): string {
  if (typeof name === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    return name;
  }
  throw new ToolDefinitionError(
    "The name of a tool must be 1 to 64 ASCII letters, digits, _ or -",
  );
}

interface Primitives {
  readonly string: string;
  readonly boolean: boolean;
}

function optional<Type extends keyof Primitives>(
  value: unknown,
  type: Type,
  toolName: string,
  rule: string,
): Primitives[Type] | undefined {
  if (value === undefined || value === null) return undefined;
  const given = typeof value;
  if (given === type) return value as Primitives[Type];
  throw brokenRule(toolName, rule);
}

function copyParameters(
  parameters: unknown,
  toolName: string,
): JsonObject | undefined {
  if (parameters === undefined || parameters === null) return undefined;
  try {
    const copy = isPlainObject(parameters) ? frozenCopy(parameters) : undefined;
    requireJson(copy);
    return copy as JsonObject;
  } catch (cause) {
    throw brokenRule(toolName, "parameters must be a JSON object", { cause });
  }
}

function requireJson(value: unknown): void {
  if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) requireJson(member);
  } else if (
    value === undefined || typeof value === "bigint" ||
    typeof value === "number" && !Number.isFinite(value)
  ) {
    throw new TypeError(`JSON expected, not ${typeof value}`);
  }
}

function isEffect(value: unknown): value is ToolEffect {
  return value === "read_only" || value === "side_effecting";
}
