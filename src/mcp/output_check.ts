import { errorText } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { compileJsonSchema } from "../validation/compile.ts";
import type { SchemaValidator } from "../validation/compiler.ts";
import { holdsPatterns } from "../validation/patterns.ts";
import { McpToolError } from "./errors.ts";
import type { McpToolResult } from "./protocol.ts";

/** Checks results of a tool. @throws {McpToolError} A result is not what the schema says. */
export type OutputCheck = (result: McpToolResult) => void;

/**
 * Prepares the check of a tool's results.
 *
 * Patterns are not applied: a server that chooses both the pattern and the text can
 * make one comparison take years.
 *
 * @param report Told what is not checked, and why.
 * @returns Null if nothing can be checked.
 */
export function outputCheck(
  schema: JsonObject,
  report: (message: string) => void,
): OutputCheck | null {
  try {
    const validate = compileJsonSchema(schema, { patterns: "ignore" });
    if (holdsPatterns(schema)) {
      report("The patterns of the output schema are not applied, the rest is");
    }
    return (result) => requireValid(result, validate);
  } catch (error) {
    report(errorText(error));
    return null;
  }
}

function requireValid(
  { isError, structuredContent }: McpToolResult,
  validate: SchemaValidator,
): void {
  if (isError === true) return;
  if (
    structuredContent !== undefined && validate(structuredContent).length === 0
  ) return;
  throw new McpToolError(
    "MCP tool returned structured content that violates its output schema",
  );
}
