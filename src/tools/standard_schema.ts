import type { JsonObject } from "../base/json.ts";
import { isJsonObject } from "../base/json.ts";
import { brokenRule, type ToolDefinitionError } from "./errors.ts";

/**
 * A validator of the Standard Schema interface, version 1.
 *
 * Current zod and arktype schemas are such; valibot schemas become one with a
 * JSON Schema through `toStandardJsonSchema` of `@valibot/to-json-schema`.
 *
 * @see https://standardschema.dev
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** What the library offers to others. */
  readonly "~standard": StandardSchemaProps<Input, Output>;
}

/** The members of {@linkcode StandardSchema}. */
export interface StandardSchemaProps<Input = unknown, Output = Input> {
  /** Version of the interface. */
  readonly version: 1;
  /** Name of the library. */
  readonly vendor: string;
  /** Checks a value; never throws because of the value. */
  readonly validate: (
    value: unknown,
  ) => StandardResult<Output> | Promise<StandardResult<Output>>;
  /** Carries the types; never set. */
  readonly types?:
    | { readonly input: Input; readonly output: Output }
    | undefined;
  /** Describes the schema; absent if the library cannot. */
  readonly jsonSchema?: {
    /** JSON Schema of what goes in. */
    readonly input: (
      options: { readonly target: "draft-2020-12" },
    ) => Record<string, unknown>;
  };
}

/** What a Standard Schema makes of a value. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One thing that is wrong with a value. */
export interface StandardIssue {
  /** The library's text; may quote the value. */
  readonly message: string;
  /** Where it is wrong, from the root. */
  readonly path?:
    | readonly (PropertyKey | { readonly key: PropertyKey })[]
    | undefined;
}

/** The type that a schema takes. */
export type StandardInput<S extends StandardSchema> = NonNullable<
  S["~standard"]["types"]
>["input"];

/** The type that a schema gives, defaults and transforms applied. */
export type StandardOutput<S extends StandardSchema> = NonNullable<
  S["~standard"]["types"]
>["output"];

/**
 * Reads the Standard Schema members of a value.
 *
 * @returns Undefined if the value has none.
 * @throws {ToolDefinitionError} It has some, but of another version or without a validator.
 */
export function standardSchemaOf(
  value: unknown,
  toolName: string,
): StandardSchemaProps | undefined {
  // Schemas of arktype are functions.
  if (typeof value !== "function" && !isJsonObject(value)) return undefined;
  const props = (value as Record<string, unknown>)["~standard"];
  if (props === undefined) return undefined;
  if (
    isJsonObject(props) && props.version === 1 &&
    typeof props.validate === "function"
  ) {
    return props as unknown as StandardSchemaProps;
  }
  throw brokenRule(
    toolName,
    "parameters must follow version 1 of Standard Schema and have a validator",
  );
}

/**
 * The JSON Schema of what a Standard Schema takes: `given` itself if it is one that
 * only brings its validator along, as those of `z.toJSONSchema` do.
 *
 * @throws {ToolDefinitionError} The library cannot say, or it is no object.
 */
export function jsonSchemaOf(
  schema: StandardSchemaProps,
  toolName: string,
  given: { readonly $schema?: unknown; readonly properties?: unknown },
): JsonObject {
  let described: unknown;
  let cause: unknown;
  try {
    // The schemas of libraries themselves have no such members.
    described = given.$schema ?? given.properties
      ? given
      : schema.jsonSchema?.input({ target: "draft-2020-12" });
  } catch (error) {
    cause = error;
  }
  if (described === undefined) {
    throw brokenRule(
      toolName,
      "parameters cannot describe themselves as JSON Schema; pass jsonSchema too",
      { cause },
    );
  }
  if (!isJsonObject(described) || described.type !== "object") {
    throw objectExpected(toolName);
  }
  // 2020-12 is what providers assume; a statement of it only costs tokens.
  const { $schema, "~standard": _, ...rest } = described;
  const assumed = !$schema || /2020-12/.test($schema as string);
  return (assumed ? rest : described) as JsonObject;
}

/** Roots of JSON Schemas that no arguments can have. */
const otherTypes = /^(array|boolean|integer|null|number|string)$/;

/** Keywords that make a JSON Schema of an object of schemas, also without `type`. */
const objectKeywords =
  /^(\$|defin|propert|patternP|additionalP|depend|(not|if)$)/;

/** True for the schema of something else, and for members without the object around them. */
export function describesNoObject(parameters: unknown): boolean {
  const schema = Object(parameters);
  const members = Object.keys(schema);
  return otherTypes.test(schema.type) || members.length > 0 &&
      members.every((name) =>
        isJsonObject(schema[name]) && !objectKeywords.test(name)
      );
}

/** The error for parameters that are something else than an object, which no provider takes. */
export function objectExpected(toolName: string): ToolDefinitionError {
  return brokenRule(
    toolName,
    'parameters must describe an object, as { type: "object", properties: { ... } } ' +
      "and z.object({ ... }) do",
  );
}

/** The location of an issue as a JSON Pointer; the empty text is the root. */
export function issuePointer(issue: StandardIssue): string {
  return (issue.path ?? []).map((segment) => {
    const key = typeof segment === "object" ? segment.key : segment;
    return `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  }).join("");
}
