/**
 * Uses MCP servers as they are; fails with what is not as it should be.
 *
 * The tests run it as a program of its own: the timers that the SDK leaves behind when a
 * connection ends do not hold a program back for long, but would count as leaks of a test.
 */
import { argv, kill } from "node:process";
import { stdioTransport } from "../../adapters/node/mcp_stdio.ts";
import type { McpToolHandler, McpTransport } from "../../src/mcp/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { everythingHandler, useEverything } from "./mcp_everything.ts";
import { useFilesystem } from "./mcp_filesystem.ts";
import { useMemory } from "./mcp_memory.ts";
import { npmServer, startEverything } from "./mcp_servers.ts";

const scenarios: Readonly<Record<string, () => Promise<void>>> = {
  async stdio() {
    const lines: unknown[] = [];
    const logger = {
      warn() {},
      info: (_: string, details?: Readonly<Record<string, unknown>>) =>
        lines.push(details?.line),
    };
    const server = {
      ...npmServer("server-everything", "stdio"),
      env: { ONLY_HERE: "yes" },
    };
    const handler = everythingHandler(server, {
      stdio: stdioTransport,
      logger,
    });
    await handler.startup();
    try {
      await useEverything(handler);
      await checkEnvironment(handler);
      assert(lines.includes("Starting default (STDIO) server..."));
    } finally {
      await handler.shutdown();
    }
  },

  async restart() {
    const started: (McpTransport & { pid?: number })[] = [];
    const handler = everythingHandler(npmServer("server-everything", "stdio"), {
      stdio: (request) => {
        const transport = stdioTransport(request);
        started.push(transport);
        return transport;
      },
    });
    await handler.startup();
    try {
      kill(started[0]!.pid!, "SIGKILL");
      while (handler.serverStatus("all")?.status === "connected") {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const { data } = await handler.dispatch("all__echo", {
        message: "again",
      });
      assertEquals(data, "Echo: again");
      assertEquals(started.length, 2);
    } finally {
      await handler.shutdown();
    }
  },

  async missing() {
    const handler = everythingHandler({ command: "no-such-program-anywhere" }, {
      stdio: stdioTransport,
    });
    await handler.startup();
    assertEquals(handler.serverStatus("all")?.status, "failed");
    await handler.shutdown();
  },

  filesystem: useFilesystem,

  memory: useMemory,

  streamableHttp: () => useOverHttp("streamableHttp"),

  sse: () => useOverHttp("sse"),
};

await scenarios[argv.at(-1)!]!();

/** The server sees what it was given and what every program needs, and nothing else. */
async function checkEnvironment(handler: McpToolHandler): Promise<void> {
  const { data } = await handler.dispatch("all__get-env", {});
  const usual = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
  const others = Object.keys(JSON.parse(String(data)))
    .filter((name) => !usual.includes(name))
    // What runtimes set by themselves.
    .filter((name) => !/^(npm_|DENO_|__)/.test(name));
  assertEquals(others, ["ONLY_HERE"]);
}

async function useOverHttp(kind: "streamableHttp" | "sse"): Promise<void> {
  const server = await startEverything(kind);
  const handler = everythingHandler({ url: server.url });
  try {
    await handler.startup();
    await useEverything(handler);
  } finally {
    await handler.shutdown();
    await server.stop();
  }
}
