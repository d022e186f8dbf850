import { EJAgentError } from "../base/errors.ts";

/** Where a tool's schema is broken. */
export interface ToolSchemaErrorOptions extends ErrorOptions {
  /** The tool whose schema is broken. */
  readonly toolName: string;
  /** JSON Pointer of the broken place inside the schema. */
  readonly pointer?: string | undefined;
}

/**
 * The schema of a tool's arguments can never be used to check a call.
 *
 * Thrown while an agent starts, so that a broken tool is found before a model
 * sees it. The message says where and why and never prints the schema.
 *
 * @example Tell which tool is broken
 * ```ts
 * import { ToolSchemaConfigurationError } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const error = new ToolSchemaConfigurationError("broken", {
 *   toolName: "ping",
 *   pointer: "/properties/host",
 * });
 * equal(error.toolName, "ping");
 * equal(error.pointer, "/properties/host");
 * ```
 */
export class ToolSchemaConfigurationError extends EJAgentError {
  /** Always `"tool_schema_configuration"`. */
  override readonly code = "tool_schema_configuration";
  /** The tool whose schema is broken. */
  readonly toolName: string;
  /** JSON Pointer of the broken place inside the schema; `""` is the schema itself. */
  readonly pointer: string;

  /**
   * Blames the schema of one tool.
   *
   * @param message What is wrong, without a final period.
   * @param options The tool, the place in its schema, and the cause.
   */
  constructor(message: string, options: ToolSchemaErrorOptions) {
    super(message, options);
    this.toolName = options.toolName;
    this.pointer = options.pointer ?? "";
  }
}
