import { readFile } from "node:fs/promises";
import { type McpConfig, parseMcpConfig } from "../../src/mcp/config.ts";

/**
 * Reads a configuration file of MCP servers, for `McpToolHandler` of `@ejagent/core/mcp`.
 *
 * @param path The file, as a path or a `file:` URL.
 * @throws {TypeError} As a rejection: it is no configuration.
 * @throws As a rejection what the platform throws if the file cannot be read.
 *
 * @example Servers of the file that other programs use as well
 * ```ts ignore
 * import { McpToolHandler } from "@ejagent/core/mcp";
 * import { loadMcpConfig } from "@ejagent/core/node";
 *
 * const config = await loadMcpConfig(".mcp.json");
 * const tools = new McpToolHandler({ config });
 * ```
 */
export async function loadMcpConfig(path: string | URL): Promise<McpConfig> {
  return parseMcpConfig(await readFile(path, "utf8"));
}
