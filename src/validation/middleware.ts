import { errorText } from "../base/errors.ts";
import { consoleLogger, type Logger } from "../base/ports.ts";
import {
  requireBoolean,
  requireInteger,
  requireMember,
  requireMethods,
  requireText,
} from "../base/require.ts";
import type { ToolDefinition } from "../tools/definition.ts";
import {
  DEFAULT_MAX_ERRORS,
  invalidArguments,
} from "../tools/invalid_arguments.ts";
import type {
  ToolCallContext,
  ToolLayer,
  ToolNext,
} from "../tools/middleware.ts";
import type { StepOutcome } from "../tools/outcome.ts";
import { ToolSchemaConfigurationError } from "../tools/schema_error.ts";
import { cfworkerCompiler } from "./cfworker.ts";
import { compileJsonSchema } from "./compile.ts";
import type {
  JsonSchemaCompiler,
  SchemaFormats,
  SchemaPatterns,
  SchemaValidator,
} from "./compiler.ts";
import { chooseDraft } from "./draft.ts";
import { describeErrors } from "./messages.ts";
import { JsonSchemaError } from "./schema_error.ts";

/** How arguments are checked. */
export interface ToolSchemaValidationOptions {
  /** How many errors the model is shown, at least 1. @default {8} */
  readonly maxErrors?: number | undefined;
  /** What happens with `format`. @default {"ignore"} */
  readonly formats?: SchemaFormats | undefined;
  /**
   * What happens with the patterns of schemas. `"ignore"` is for tools of third parties.
   *
   * @default {"apply"}
   */
  readonly patterns?: SchemaPatterns | undefined;
  /**
   * What happens to a tool whose schema is broken: the agent does not start, or the
   * tool stays unchecked with a warning. The latter is for tools of third parties.
   *
   * @default {"throw"}
   */
  readonly onInvalidSchema?: "throw" | "skip" | undefined;
  /** The engine that checks values. @default {cfworkerCompiler} */
  readonly compiler?: JsonSchemaCompiler | undefined;
  /** Shown in messages. @default {"ToolSchemaValidationMiddleware"} */
  readonly name?: string | undefined;
  /** False checks nothing at all, the schemas included. @default {true} */
  readonly enabled?: boolean | undefined;
  /** Receives warnings about schemas. @default {consoleLogger} */
  readonly logger?: Logger | undefined;
}

/**
 * Checks the arguments of every call against the JSON Schema of its tool.
 *
 * The schemas themselves are checked while the agent starts. Arguments that do not
 * fit never reach the tool; the model reads what is wrong, without any value being
 * repeated, and may try again. Tools without `parameters` take anything.
 *
 * Patterns are applied without a limit of time, to texts that the model writes. A
 * pattern with nested repetition, such as `^(a+)+$`, can block the whole process with
 * thirty characters. If schemas come from somebody else, as those of MCP servers do,
 * `patterns: "ignore"` checks all the rest.
 *
 * Put it before a policy, so that invalid arguments use up no limit and ask nobody
 * for approval.
 *
 * @example Arguments are checked before the tool runs
 * ```ts
 * import { ToolSchemaValidationMiddleware } from "@ejagent/core/validation";
 *
 * const middleware = [new ToolSchemaValidationMiddleware({ maxErrors: 4 })];
 * ```
 */
export class ToolSchemaValidationMiddleware implements ToolLayer {
  /** Shown in messages. */
  readonly name: string;
  /** False if nothing is checked. */
  readonly enabled: boolean;
  readonly #maxErrors: number;
  readonly #formats: SchemaFormats;
  readonly #patterns: SchemaPatterns;
  readonly #onInvalidSchema: "throw" | "skip";
  readonly #compiler: JsonSchemaCompiler;
  readonly #logger: Logger;
  /** By definition, not by name: a tool of the same name may come back with another schema. */
  readonly #validators = new WeakMap<ToolDefinition, SchemaValidator>();

  /**
   * Starts without knowing any tool.
   *
   * @throws {TypeError} If an option has the wrong type.
   * @throws {RangeError} If `maxErrors` is below 1.
   */
  constructor(options: ToolSchemaValidationOptions = {}) {
    this.name = requireText(
      "name",
      options.name ?? "ToolSchemaValidationMiddleware",
    );
    this.enabled = requireBoolean("enabled", options.enabled ?? true);
    this.#maxErrors = requireInteger(
      "maxErrors",
      options.maxErrors ?? DEFAULT_MAX_ERRORS,
      1,
    );
    this.#formats = requireMember("formats", options.formats ?? "ignore", {
      ignore: true,
      assert: true,
    });
    this.#patterns = requireMember("patterns", options.patterns ?? "apply", {
      apply: true,
      ignore: true,
    });
    this.#onInvalidSchema = requireMember(
      "onInvalidSchema",
      options.onInvalidSchema ?? "throw",
      { throw: true, skip: true },
    );
    this.#compiler = options.compiler ?? cfworkerCompiler;
    requireMethods("compiler", this.#compiler, ["compile"]);
    this.#logger = options.logger ?? consoleLogger;
    requireMethods("logger", this.#logger, ["warn"]);
  }

  /**
   * Checks and compiles the schemas of all tools that have not been seen before.
   *
   * @throws {ToolSchemaConfigurationError} If a schema is broken.
   */
  configureTools(definitions: readonly ToolDefinition[]): void {
    for (const definition of definitions) this.#validatorOf(definition);
  }

  /** Refuses arguments that do not fit; anything else goes on to the tool. */
  aroundTool(
    context: ToolCallContext,
    next: ToolNext,
  ): StepOutcome | Promise<StepOutcome> {
    const { toolDefinition, toolName } = context;
    if (toolDefinition === undefined) return next();
    const errors = this.#validatorOf(toolDefinition)(context.arguments);
    if (errors.length === 0) return next();
    return invalidArguments(toolName, describeErrors(errors), this.#maxErrors);
  }

  #validatorOf(definition: ToolDefinition): SchemaValidator {
    let validator = this.#validators.get(definition);
    if (validator === undefined) {
      validator = this.#compile(definition);
      this.#validators.set(definition, validator);
    }
    return validator;
  }

  #compile({ name, parameters }: ToolDefinition): SchemaValidator {
    if (parameters === undefined) return acceptAnything;
    try {
      if (!chooseDraft(parameters).known) {
        this.#logger.warn(
          `Tool "${name}" uses an unknown version of JSON Schema and is checked as 2020-12`,
        );
      }
      return compileJsonSchema(parameters, {
        formats: this.#formats,
        patterns: this.#patterns,
        compiler: this.#compiler,
      });
    } catch (cause) {
      const error = configurationError(name, cause);
      if (this.#onInvalidSchema === "throw") throw error;
      this.#logger.warn(`${error.message}; its arguments stay unchecked`);
      return acceptAnything;
    }
  }
}

function acceptAnything(): readonly [] {
  return [];
}

function configurationError(toolName: string, cause: unknown) {
  const known = cause instanceof JsonSchemaError;
  const where = known
    ? `at "${cause.pointer}": ${cause.reason}`
    : `for this validator: ${errorText(cause)}`;
  return new ToolSchemaConfigurationError(
    `Tool "${toolName}" has an invalid parameters schema ${where}`,
    { toolName, cause, ...(known && { pointer: cause.pointer }) },
  );
}
