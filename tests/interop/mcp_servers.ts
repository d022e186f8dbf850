import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { env, execPath } from "node:process";
import type { McpServerInput } from "../../src/mcp/mod.ts";
import { runtime } from "../support/runtime.ts";

/** The command that runs a server from npm on the runtime of the test. */
export function npmServer(
  name: string,
  ...args: readonly string[]
): McpServerInput & { readonly command: string; readonly args: string[] } {
  const path = `node_modules/@modelcontextprotocol/${name}/dist/index.js`;
  const prefix = runtime === "deno" ? ["run", "-A", "--quiet"] : [];
  return { command: execPath, args: [...prefix, path, ...args] };
}

/** A server from npm behind an address of this machine. */
export interface HttpServerProcess {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts the server that has everything, over streamable HTTP or what was before. */
export async function startEverything(
  kind: "streamableHttp" | "sse",
): Promise<HttpServerProcess> {
  const port = await freePort();
  const { command, args } = npmServer("server-everything", kind);
  const child = spawn(command, args, {
    env: { ...env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const closed = new Promise<void>((resolve) =>
    child.on("close", () => resolve())
  );
  await new Promise<void>((resolve, reject) => {
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (/running on port|listening on port/i.test(log)) resolve();
    });
    child.on("close", () => reject(new Error(`The server ended: ${log}`)));
  });
  const path = kind === "sse" ? "sse" : "mcp";
  return {
    url: `http://127.0.0.1:${port}/${path}`,
    async stop() {
      child.kill("SIGKILL");
      await closed;
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
