import { readFile } from "node:fs/promises";
import { type McpConfig, parseMcpConfigFile } from "../../src/mcp/config.ts";

/**
 * Reads a configuration file of MCP servers, for `McpToolHandler` of `@ejagent/core/mcp`.
 *
 * @param path The file, as a path or a `file:` URL.
 * @throws {TypeError} As a rejection: it is no configuration; the message names the file.
 * @throws As a rejection what the platform throws if the file cannot be read.
 *
 * @example Servers of the file that other programs use as well
 * ```ts ignore
 * import { McpToolHandler } from "@ejagent/core/mcp";
 * import { stdioTransport } from "@ejagent/core/mcp-stdio";
 * import { loadMcpConfig } from "@ejagent/core/node";
 * import process from "node:process";
 *
 * const config = await loadMcpConfig(".mcp.json");
 * const tools = new McpToolHandler({
 *   config,
 *   env: process.env, // for ${NAME} in the file
 *   stdio: stdioTransport, // for servers that are programs
 * });
 * ```
 */
export async function loadMcpConfig(path: string | URL): Promise<McpConfig> {
  return parseMcpConfigFile(await readFile(path, "utf8"), path);
}
