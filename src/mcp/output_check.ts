import { errorText } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import { compileJsonSchema } from "../validation/compile.ts";
import type { SchemaValidator } from "../validation/compiler.ts";
import { McpToolError } from "./errors.ts";
import { mapSchemas } from "./map_schema.ts";
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
    const plain = withoutPatterns(schema);
    if (plain === undefined) {
      report("The output schema depends on patterns, which are not applied");
      return null;
    }
    if (plain !== schema) {
      report("The patterns of the output schema are not applied, the rest is");
    }
    const validate = compileJsonSchema(plain);
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

/** The same schema without patterns; undefined if it could refuse more without them. */
function withoutPatterns(schema: JsonObject): JsonObject | undefined {
  if (!holdsPatterns(schema)) return schema;
  const mayRefuseMore = /"(not|oneOf|if|contains|patternProperties)":/;
  if (mayRefuseMore.test(JSON.stringify(schema))) return undefined;
  const plain = mapSchemas(schema, ({ pattern: _, ...rest }) => rest);
  // A reference may lead to a place where no schema is expected.
  return holdsPatterns(plain) ? undefined : plain as JsonObject;
}

// A property of this name has a schema, not a text.
function holdsPatterns(schema: unknown): boolean {
  return /"pattern":"|"patternProperties":\{/.test(JSON.stringify(schema));
}
