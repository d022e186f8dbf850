import { EJAgentError } from "../base/errors.ts";
import { frozen, frozenList } from "../base/freeze.ts";

/** Which tool a definition error speaks of. */
export interface ToolDefinitionErrorOptions extends ErrorOptions {
  /** Name of the tool, if it has a usable one. */
  readonly toolName?: string | undefined;
}

/** A tool is described in a way that can never work. */
export class ToolDefinitionError extends EJAgentError {
  /** `"duplicate_tool"` if two tools share a name, else `"tool_definition"`. */
  override readonly code: "tool_definition" | "duplicate_tool" =
    "tool_definition";
  /** Name of the tool; undefined if it has no usable one. */
  readonly toolName: string | undefined;

  /** Says what is wrong. @param message Names the member; never quotes a schema. */
  constructor(message: string, options: ToolDefinitionErrorOptions = {}) {
    super(message, options);
    this.toolName = options.toolName;
  }
}

/** The error for a rule that the description of a named tool breaks. */
export function brokenRule(
  toolName: string,
  rule: string,
  options?: ErrorOptions,
): ToolDefinitionError {
  return new ToolDefinitionError(`Tool "${toolName}": ${rule}`, {
    ...options,
    toolName,
  });
}

/** Two tools of one agent have the same name. */
export class DuplicateToolError extends ToolDefinitionError {
  /** Always `"duplicate_tool"`. */
  override readonly code = "duplicate_tool";

  /** Names the tool. @param owners What offers it, first and second. */
  constructor(toolName: string, owners: readonly [string, string]) {
    super(`duplicate tool "${toolName}" (${owners.join(", ")})`, { toolName });
  }
}

/** No tool has the requested name. */
export class UnknownToolError extends EJAgentError {
  /** Always `"unknown_tool"`. */
  override readonly code = "unknown_tool";
  /** The requested name. */
  readonly toolName: string;
  /** Names that exist, sorted. */
  readonly available: readonly string[];

  /** Names the tool and those that exist. @param available In any order. */
  constructor(toolName: string, available: Iterable<string>) {
    const names = frozen([...available].sort());
    super(
      `unknown tool "${toolName}" (available: ${names.join(", ") || "none"})`,
    );
    this.toolName = toolName;
    this.available = names;
  }
}

/** Handlers or middleware could not be shut down; all of them were asked to. */
export class ToolShutdownError extends EJAgentError {
  /** Always `"tool_shutdown"`. */
  override readonly code = "tool_shutdown";
  /** What went wrong, in the order of the attempts. */
  readonly errors: readonly unknown[];

  /** Takes what went wrong. @param errors At least one. */
  constructor(errors: readonly unknown[]) {
    super(`failed to shut down ${errors.length} tool resource(s)`);
    this.errors = frozenList(errors);
  }
}
