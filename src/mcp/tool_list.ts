import { errorText } from "../base/errors.ts";
import { frozenCopy } from "../base/freeze.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { McpServerError } from "./errors.ts";
import { usableInputSchema } from "./input_schema.ts";
import type { McpTool } from "./protocol.ts";

/** A tool that is listed but cannot be used. */
export interface LeftOutTool {
  /** Its name on the server, as far as it has one. */
  readonly toolName: string;
  /** Why, without a final period. */
  readonly message: string;
}

/** The tools of one server. */
export interface ToolList {
  /** In the order of the server; `name` is still the server's own. */
  readonly tools: readonly McpTool[];
  /** In the same order. */
  readonly leftOut: readonly LeftOutTool[];
}

/** Asks for one page. */
export type ListPage = (
  cursor: string | undefined,
) => Promise<Readonly<Record<string, unknown>>>;

const mostPages = 250;

/** Asks for all pages; ends at an empty cursor or one that was there before. */
export async function readAllPages(listPage: ListPage): Promise<unknown[]> {
  const tools: unknown[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < mostPages; page++) {
    const { tools: listed, nextCursor } = await listPage(cursor);
    for (const tool of Array.isArray(listed) ? listed : []) tools.push(tool);
    if (typeof nextCursor !== "string" || nextCursor === "") break;
    if (cursors.has(nextCursor)) break;
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
  return tools;
}

/**
 * Reads what a server lists. A tool that no model could be given is left out, the
 * others are not concerned.
 *
 * @throws {McpServerError} Two tools have the same name.
 */
export function readTools(
  listed: readonly unknown[],
  server: string,
): ToolList {
  const tools = new Map<string, McpTool>();
  const leftOut: LeftOutTool[] = [];
  const seen = new Set<string>();
  for (const entry of listed) {
    const { name } = Object(entry) as { name?: unknown };
    const toolName = typeof name === "string" ? name : "";
    if (seen.has(toolName) && toolName !== "") {
      throw new McpServerError(
        `MCP server ${server} lists the tool ${toolName} twice`,
        { server },
      );
    }
    seen.add(toolName);
    try {
      tools.set(toolName, readTool(entry, server));
    } catch (error) {
      leftOut.push({ toolName, message: errorText(error) });
    }
  }
  return { tools: [...tools.values()], leftOut };
}

function readTool(entry: unknown, server: string): McpTool {
  if (!isJsonObject(entry)) throw new TypeError("The tool is no object");
  const { name, title, description, inputSchema, outputSchema } = entry;
  if (typeof name !== "string" || name === "") {
    throw new TypeError("The tool has no name");
  }
  if (Object(entry.execution).taskSupport === "required") {
    throw new TypeError("The tool runs as a task only");
  }
  const { annotations, icons, _meta } = entry;
  return frozenCopy<McpTool>({
    name,
    server,
    toolName: name,
    inputSchema: usableInputSchema(inputSchema),
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
    ...(isJsonObject(outputSchema) &&
      { outputSchema: outputSchema as JsonObject }),
    ...(isJsonObject(annotations) && { annotations }),
    ...(Array.isArray(icons) && { icons }),
    ...(isJsonObject(_meta) && { _meta: _meta as JsonObject }),
  });
}
