import {
  type McpConfig,
  McpServerError,
  McpToolHandler,
  parseMcpConfig,
} from "../../src/mcp/mod.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import {
  assertEquals,
  assertMatch,
  assertRejects,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { FakeHttpServer, FakeServer } from "./fake_server.ts";
import { handlerOver } from "./kit.ts";

test("the formats of configuration files", { case: "TL-141" }, () => {
  const kinds = (source: unknown) =>
    Object.entries(parseMcpConfig(source).mcpServers)
      .map(([name, { kind }]) => `${name} ${kind}`);

  assertEquals(
    parseMcpConfig('{"playwright":{"command":"npx","args":["x"]}}'),
    {
      mcpServers: {
        playwright: { kind: "stdio", command: "npx", args: ["x"] },
      },
    },
  );
  assertEquals(kinds({ mcpServers: { s: { url: "https://h/sse" } } }), [
    "s sse",
  ]);
  assertEquals(
    kinds({
      mcpServers: {
        plain: { url: "https://h/mcp" },
        inside: { url: "https://h/a/sse/b?c" },
        similar: { url: "https://h/assess?x=sse" },
        typed: { url: "https://h/sse", type: "http" },
        named: { url: "https://h/mcp", transport: "sse" },
        streamable: { url: "https://h/sse", transport: "streamable-http" },
      },
    }),
    [
      "plain streamable-http",
      "inside sse",
      "similar streamable-http",
      "typed streamable-http",
      "named sse",
      "streamable streamable-http",
    ],
  );
  assertEquals(
    kinds({ servers: { s: { type: "stdio", command: "x" } }, inputs: [] }),
    ["s stdio"],
  );
});

test("what is wrong with a server names it", { case: "TL-141" }, () => {
  const complaint = (source: unknown) =>
    assertThrows(() => parseMcpConfig(source), TypeError).message;
  assertEquals(
    complaint('{"mcpServers":{"s":{}}}'),
    'MCP server "s" has neither command nor url',
  );
  assertEquals(
    complaint({ mcpServers: { s: { command: "x", args: [1] } } }),
    'MCP server "s": args must be a list of strings',
  );
  assertEquals(
    complaint({ mcpServers: { s: { url: "https://h", transport: "pigeon" } } }),
    'MCP server "s" names a transport that a url cannot have; use http or sse',
  );
  assertEquals(
    complaint({ mcpServers: {} }),
    "The MCP configuration names no server",
  );
  assertEquals(
    complaint({ unrelated: 1 }),
    "The MCP configuration has no mcpServers",
  );
  assertMatch(
    complaint('{\n "token": secret'),
    /^The MCP configuration is no JSON(, see line 2 column 11)?$/,
  );
  assertEquals(
    complaint(".mcp.json"),
    "The MCP configuration is no JSON; a file has to be read first, by loadMcpConfig for instance",
  );
  assertEquals(
    complaint(Promise.resolve({})),
    "The MCP configuration is a promise; await it",
  );
  assertEquals(
    complaint({ mcpServers: { " ": { command: "x" } } }),
    "An MCP server needs a name",
  );
});

const url = "https://h/mcp";
const wrongServers: readonly (readonly [object, string])[] = [
  [{ command: "x", url }, '"s" has both command and url'],
  [{ command: " " }, '"s": command must be a string that is not blank'],
  [{ command: ["x"] }, '"s": command must be a string that is not blank'],
  [
    { command: "x", type: "http" },
    '"s" names a transport that a command cannot have; use stdio or none',
  ],
  [
    { url, type: "stdio" },
    '"s" names a transport that a url cannot have; use http or sse',
  ],
  ...[3, "", "h/mcp", "localhost:3000/mcp", "ftp://h/mcp"].map((url) =>
    [
      { url },
      '"s": url must be an address that begins with http:// or https://',
    ] as const
  ),
  ...[{ "a b": "1" }, { a: "1\n2" }, { a: 1 }].map((headers) =>
    [
      { url, headers },
      '"s": headers must be an object of strings whose names and values HTTP allows',
    ] as const
  ),
  [
    { url, authProvider: {} },
    '"s": authProvider must be an object with the functions of McpOAuthProvider',
  ],
  [{ url, auth: "" }, '"s": auth must be a string that is not blank'],
];

for (const [server, complaint] of wrongServers) {
  test(`a server that cannot be meant is refused: ${JSON.stringify(server)}`, () => {
    const { message } = assertThrows(
      () => parseMcpConfig({ mcpServers: { s: server } }),
      TypeError,
    );
    assertEquals(message, `MCP server ${complaint}`);
  });
}

test("what variables stand for is looked at when they are filled in", async () => {
  const handler = new McpToolHandler({
    servers: {
      place: { url: "${PLACE}" },
      header: { url, headers: { "x-key": "${KEY}" } },
    },
    env: { PLACE: "sesame", KEY: "a\nb" },
    logger: new RecordingLogger(),
  });
  await handler.startup();
  assertEquals(handler.diagnostics.map(({ message }) => message), [
    "MCP server place has a url that does not begin with http:// or https://",
    "MCP server header has a value for the header x-key that HTTP does not allow",
  ]);
  await handler.shutdown();
});

test("variables are filled in for programs as well", async () => {
  const asked: unknown[] = [];
  const handler = new McpToolHandler({
    servers: {
      demo: {
        command: "${BIN}/serve",
        args: ["--root=${ROOT}", "${MODE:-fast}", "$HOME"],
        cwd: "${env:ROOT}",
        env: { KEY: "${KEY}" },
      },
    },
    env: { BIN: "/bin", ROOT: "/data", KEY: "k" },
    stdio: ({ server }) => {
      asked.push(server);
      return new FakeServer().transport();
    },
    logger: new RecordingLogger(),
  });
  await handler.startup();
  assertEquals(asked, [{
    kind: "stdio",
    command: "/bin/serve",
    args: ["--root=/data", "fast", "$HOME"],
    cwd: "/data",
    env: { KEY: "k" },
  }]);
  await handler.shutdown();
});

test("members that are common to all servers", () => {
  const config: McpConfig = parseMcpConfig({
    mcpServers: {
      s: {
        command: "x",
        env: { A: "1" },
        cwd: "/tmp",
        timeout: 500,
        description: "d",
        disabled: true,
        alwaysAllow: ["y"],
      },
    },
  });
  assertEquals(config.mcpServers.s as unknown, {
    kind: "stdio",
    command: "x",
    env: { A: "1" },
    cwd: "/tmp",
    description: "d",
    disabled: true,
    timeoutMs: 500,
  });
  assertEquals(parseMcpConfig(config), config);
});

test("a disabled server is left alone", async () => {
  const { transport, received } = new FakeServer();
  const handler = new McpToolHandler({
    servers: { demo: { transport, disabled: true } },
    logger: new RecordingLogger(),
  });
  await handler.startup();
  assertEquals(handler.serverStatus("demo"), { status: "disabled" });
  await assertRejects(
    () => handler.reconnect("demo"),
    McpServerError,
    "MCP server demo is disabled in its configuration",
  );
  assertEquals([received, handler.toolNames, handler.diagnostics], [
    [],
    [],
    [],
  ]);
  await handler.shutdown();
});

test("variables are filled in on demand, and a missing one fails its server alone", async () => {
  const http = new FakeHttpServer(new FakeServer());
  const start = async (
    env: Record<string, string> | undefined,
    token: string,
  ) => {
    const handler = new McpToolHandler({
      config: {
        mcpServers: {
          demo: {
            url: "https://demo.example/${PLACE:-mcp}",
            headers: { "x-token": token },
          },
        },
      },
      ...(env !== undefined && { env }),
      http: { fetch: http.fetch },
      logger: new RecordingLogger(),
    });
    await handler.startup();
    const status = handler.serverStatus("demo");
    await handler.shutdown();
    return status;
  };
  await start(undefined, "${TOKEN}");
  assertEquals(http.headers.at(-1)?.get("x-token"), "${TOKEN}");
  await start({ TOKEN: "t1" }, "a ${TOKEN} ${env:TOKEN}");
  assertEquals(http.headers.at(-1)?.get("x-token"), "a t1 t1");
  assertEquals(await start({}, "${TOKEN}"), {
    status: "failed",
    error: "MCP server demo needs the variable TOKEN, which is not defined",
  });
});

test(
  "child processes need somebody to start them",
  { case: "TL-152" },
  async () => {
    const good = new FakeServer();
    const handler = new McpToolHandler({
      servers: { demo: { command: "x" }, good: { transport: good.transport } },
      logger: new RecordingLogger(),
    });
    await handler.startup();
    assertEquals(handler.serverStatus("demo"), {
      status: "failed",
      error:
        "stdio transport is not available on this runtime; for MCP server demo pass stdio: stdioTransport of @ejagent/core/mcp-stdio",
    });
    assertEquals(handler.toolNames, ["good__lookup"]);
    await handler.shutdown();
  },
);

test("tools come in the order of the configuration", async () => {
  const late = new FakeServer();
  const early = new FakeServer();
  late.options.initialize = async () => {
    while (early.received.length < 3) await Promise.resolve();
  };
  const handler = handlerOver({ late, early });
  await handler.startup();
  assertEquals(handler.toolNames, ["late__lookup", "early__lookup"]);
  await handler.shutdown();
});
