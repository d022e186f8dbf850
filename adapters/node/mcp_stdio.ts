/**
 * MCP servers that are child processes, on Deno, Node.js and Bun.
 *
 * ```ts ignore
 * import { Agent } from "@ejagent/core";
 * import { McpToolHandler } from "@ejagent/core/mcp";
 * import { stdioTransport } from "@ejagent/core/mcp-stdio";
 *
 * const files = new McpToolHandler({
 *   servers: {
 *     files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] },
 *   },
 *   stdio: stdioTransport,
 * });
 * const agent = new Agent({ agentId: "clerk", model, tools: [files] });
 * ```
 *
 * Choose this entry beside `@ejagent/core/mcp` where programs can be started; on Deno it
 * needs the permission to run them and to read the environment.
 *
 * @module
 */
// @ts-types="@modelcontextprotocol/sdk/client/stdio"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { McpTransport } from "../../src/mcp/protocol.ts";
import type { McpStdioRequest } from "../../src/mcp/transport.ts";

export type {
  McpServerSettings,
  McpStdioServer,
} from "../../src/mcp/config.ts";
export type { McpTransport } from "../../src/mcp/protocol.ts";
export type { McpStdioRequest } from "../../src/mcp/transport.ts";

/**
 * Talks to a server over its standard input and output.
 *
 * The program gets `HOME`, `PATH` and the few other variables that every program
 * needs, and those of its configuration; nothing else of the environment. What it
 * writes to standard error goes to the logger, line by line.
 */
export function stdioTransport(
  { server, onLine }: McpStdioRequest,
): McpTransport {
  const { command, args = [], env = {}, cwd } = server;
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...env },
    stderr: "pipe",
    ...(cwd !== undefined && { cwd }),
  });
  const errors = transport.stderr as Readable | null;
  if (errors !== null) createInterface({ input: errors }).on("line", onLine);
  return transport;
}
