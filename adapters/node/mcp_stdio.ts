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
import type { ChildProcess } from "node:child_process";
import { stat } from "node:fs/promises";
import { kill } from "node:process";
import type { Readable } from "node:stream";
import { McpServerError } from "../../src/mcp/errors.ts";
import type { McpEnding, McpTransport } from "../../src/mcp/protocol.ts";
import type { McpStdioRequest } from "../../src/mcp/transport.ts";

export type {
  McpServerSettings,
  McpStdioServer,
} from "../../src/mcp/config.ts";
export type { McpEnding, McpTransport } from "../../src/mcp/protocol.ts";
export type { McpStdioRequest } from "../../src/mcp/transport.ts";

/**
 * Talks to a server over its standard input and output.
 *
 * The program gets `HOME`, `PATH` and the few other variables that every program
 * needs, and those of its configuration; nothing else of the environment. What it
 * writes to standard error goes to the logger, line by line; its last lines are part of
 * the error when it ends too early.
 */
export function stdioTransport(request: McpStdioRequest): McpTransport {
  const { command, args = [], env = {}, cwd } = request.server;
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...env },
    stderr: "pipe",
    ...(cwd !== undefined && { cwd }),
  });
  endForCertain(transport);
  return Object.assign(transport, { ending: explained(transport, request) });
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

/**
 * Makes a transport say why its program does not start.
 *
 * @returns What tells how the program ended, once it has.
 */
function explained(
  transport: StdioClientTransport,
  request: McpStdioRequest,
): () => Promise<McpEnding> {
  const lines: string[] = [];
  const allRead = readLines(transport.stderr as Readable, (line) => {
    lines.push(line);
    // The last ones are enough, and a program may write for days.
    if (lines.length > mostLines) lines.shift();
    request.onLine(line);
  });
  let exit: Promise<string> = new Promise(() => {});
  const { start } = transport;
  transport.start = async () => {
    const starting = start.call(transport);
    // The SDK keeps the program to itself and drops how it ended.
    const { _process } = transport as unknown as { _process?: ChildProcess };
    if (_process !== undefined) exit = exitOf(_process);
    try {
      await starting;
    } catch (error) {
      throw await startFailure(error, request);
    }
  };
  return async () => {
    const how = await exit;
    await allRead;
    const { command } = request.server;
    const lastOutput = lines.join("\n").slice(-longestOutput);
    return { command, how, lastOutput };
  };
}

const mostLines = 20;
const longestOutput = 2048;

function exitOf(program: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    program.once("close", (code, signal) => {
      resolve(
        signal === null ? `exited with code ${code}` : `was ended by ${signal}`,
      );
    });
  });
}

async function startFailure(
  error: unknown,
  { name, server: { command, cwd } }: McpStdioRequest,
): Promise<unknown> {
  const { code } = error as { code?: unknown };
  if (code !== "ENOENT" && code !== "ENOTDIR" && code !== "EACCES") {
    return error;
  }
  const problem = cwd !== undefined && !await isDirectory(cwd)
    ? `its cwd ${cwd} is no directory`
    : code === "EACCES"
    ? `${command} may not be executed`
    : `there is no program ${command}`;
  return new McpServerError(
    `MCP server ${name} could not be started: ${problem}`,
    { server: name, cause: error },
  );
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

const longestLine = 8192;

/**
 * Cuts what a program writes into lines, also where it never ends one.
 *
 * @returns Resolves when all is read.
 */
function readLines(
  input: Readable,
  onLine: (line: string) => void,
): Promise<void> {
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
  return new Promise((resolve) => {
    input.on("end", () => {
      if (rest !== "") onLine(rest);
      resolve();
    });
  });
}
