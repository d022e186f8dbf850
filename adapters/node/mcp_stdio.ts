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
import { kill } from "node:process";
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
  if (errors !== null) readLines(errors, onLine);
  endForCertain(transport);
  return transport;
}

/**
 * Makes everybody who closes a transport wait for the end of the program, also if the SDK
 * closes it as well.
 */
function endForCertain(transport: StdioClientTransport): void {
  const close = transport.close.bind(transport);
  let closing: Promise<void> | undefined;
  let hasEnded = false;
  transport.onclose = () => hasEnded = true; // the client calls it before its own
  transport.close = () => closing ??= end();

  async function end(): Promise<void> {
    const { pid } = transport;
    await close();
    if (pid === null || hasEnded) return;
    try {
      // Deno takes the second signal of the SDK, which is this one, for already sent.
      kill(pid, "SIGKILL");
    } catch {
      // It has ended, and only its children hold its output open.
    }
  }
}

const longestLine = 8192;

/** Cuts what a program writes into lines, also where it never ends one. */
function readLines(input: Readable, onLine: (line: string) => void): void {
  let rest = "";
  input.setEncoding("utf8");
  input.on("data", (text: string) => {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop()!;
    for (const line of lines) onLine(line.slice(0, longestLine));
    if (rest.length < longestLine) return;
    onLine(rest.slice(0, longestLine));
    rest = "";
  });
  input.on("end", () => {
    if (rest !== "") onLine(rest);
  });
}
