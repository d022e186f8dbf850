import {
  ToolDefinitionError,
  UnknownToolError,
} from "../../src/tools/errors.ts";
import {
  type McpDiagnostic,
  type McpManager,
  McpServerError,
  McpServerManager,
  McpToolError,
  McpToolHandler,
  type McpToolHandlerOptions,
} from "../../src/mcp/mod.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import {
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { FakeServer, texts, tool } from "./fake_server.ts";
import { handlerOver, refusingServer, startedDemo } from "./kit.ts";

test("a tool carries the name of its server", { case: "TL-137" }, async () => {
  const calls: unknown[] = [];
  const { handler, server } = await startedDemo({
    call: ({ name, arguments: args }) => {
      calls.push([name, args]);
      return texts("found");
    },
  });

  assertEquals(handler.toolNames, ["demo__lookup"]);
  const outcome = await handler.dispatch("demo__lookup", { key: "a" });
  assertEquals(outcome.data, "found");
  assertEquals(outcome.meta?.mcp, texts("found"));
  assertEquals(calls, [["lookup", { key: "a" }]]);

  const before = server.received.length;
  await assertRejects(
    () => handler.dispatch("demo__missing", {}),
    UnknownToolError,
  );
  assertEquals(server.received.length, before);
  await handler.shutdown();
});

test(
  "names that providers refuse become legal and stay distinct",
  { case: "B83" },
  async () => {
    const long = "x".repeat(70);
    const called: string[] = [];
    const { handler } = await startedDemo({
      tools: [
        tool("a.b/c"),
        tool("a.b.c"),
        tool("a.d"),
        tool(`${long}1`),
        tool(`${long}2`),
      ],
      call: ({ name }) => void called.push(name),
    });

    const names = handler.toolNames;
    assertEquals(new Set(names).size, 5);
    assertEquals(names.filter((name) => !/^[\w-]{1,64}$/.test(name)), []);
    assertEquals(names[2], "demo__a_d");
    // FNV-1a of the raw names, so that they are the same everywhere and always.
    assertEquals(names.slice(0, 2), [
      "demo__a_b_c_c53fc6bd",
      "demo__a_b_c_e54237b4",
    ]);
    for (const name of names) await handler.dispatch(name, {});
    assertEquals(called, ["a.b/c", "a.b.c", "a.d", `${long}1`, `${long}2`]);
    await handler.shutdown();
  },
);

test(
  "a server that lists a tool twice fails alone",
  { case: "TL-138" },
  async () => {
    const handler = handlerOver({
      twice: new FakeServer({ tools: [tool("lookup"), tool("lookup")] }),
      good: new FakeServer(),
    });
    await handler.startup();

    assertEquals(handler.toolNames, ["good__lookup"]);
    assertEquals(handler.serverStatus("twice"), {
      status: "failed",
      error: "MCP server twice lists the tool lookup twice",
    });
    await handler.shutdown();
  },
);

test("a handler takes its servers from one place", { case: "TL-140" }, () => {
  const manager = {} as McpManager;
  const servers = { a: { url: "https://a.example" } };
  assertEquals(
    assertThrows(() => new McpToolHandler({}), TypeError).message,
    "a server configuration or a manager is required",
  );
  assertEquals(
    assertThrows(() => new McpToolHandler({ servers, manager }), TypeError)
      .message,
    "give either a configuration or a manager",
  );
});

const wrongOptions: readonly (readonly [unknown, string])[] = [
  [undefined, "The options must be an object"],
  [
    { toolEffects: { demo__lookup: "readonly" } },
    'toolEffects["demo__lookup"] must be one of read_only, side_effecting',
  ],
  [{ toolEffects: [] }, "toolEffects must be an object"],
  [{ stdio: {} }, "stdio must be a function"],
  [{ env: true }, "env must be an object"],
  [{ trustAnnotations: "yes" }, "trustAnnotations must be true or false"],
  [{ onDiagnostic: 1 }, "onDiagnostic must be a function"],
  [{ selectTools: ["lookup"] }, "selectTools must be a function"],
  [{ logger: {} }, "logger must have a function warn()"],
];

test("an option of the wrong type is named", () => {
  const servers = { demo: { transport: new FakeServer().transport } };
  for (const [wrong, complaint] of wrongOptions) {
    const options = wrong === undefined
      ? wrong
      : { servers, ...wrong as object };
    for (const Made of [McpToolHandler, McpServerManager]) {
      const error = assertThrows(
        () => new Made(options as McpToolHandlerOptions),
        TypeError,
      );
      assertEquals(error.message, complaint);
    }
  }
});

test("the model sees the tools that were selected, and no others", async () => {
  const { handler, server } = await startedDemo({
    tools: [tool("read"), tool("write"), tool("odd")],
  }, {
    selectTools({ server, toolName }) {
      if (toolName === "odd") throw new Error("Which one?");
      return server === "demo" && toolName === "read";
    },
  });
  assertEquals(handler.toolNames, ["demo__read"]);
  assertEquals(handler.mcpTools.map(({ name }) => name), ["demo__read"]);
  assertEquals(
    handler.diagnostics.map(({ toolName, message }) => [toolName, message]),
    [["demo__odd", "Which one?"]],
  );
  await assertRejects(
    () => handler.dispatch("demo__write", {}),
    UnknownToolError,
  );
  assertEquals(server.received.includes("tools/call write"), false);
  await handler.shutdown();
});

test("a manager of one's own is enough", async () => {
  const log: string[] = [];
  const handler = new McpToolHandler({
    manager: {
      startup: () => void log.push("startup"),
      shutdown: () => void log.push("shutdown"),
      listTools: () => [
        { name: "own", inputSchema: { type: "object", properties: {} } },
        { name: "not legal", inputSchema: { type: "object" } },
      ],
      callTool: (name, args) =>
        Promise.resolve({ structuredContent: { name, n: args.n as number } }),
    },
    logger: new RecordingLogger(),
  });
  await handler.startup();
  assertEquals(handler.toolNames, ["own"]);
  assertEquals(
    handler.diagnostics.map(({ kind, toolName }) => [kind, toolName]),
    [
      ["tool_left_out", "not legal"],
    ],
  );
  assertEquals((await handler.dispatch("own", { n: 1 })).data, {
    name: "own",
    n: 1,
  });
  for (const ask of ["reconnect", "finishAuth"] as const) {
    await assertRejects(
      () => handler[ask]("own", "code"),
      TypeError,
      `manager must have a function ${ask}()`,
    );
  }
  await handler.shutdown();
  assertEquals(log, ["startup", "shutdown"]);
  assertEquals(handler.toolNames, []);
});

test(
  "a server that refuses does not stop the others, unless it is required",
  { case: "TL-142" },
  async () => {
    const good = new FakeServer();
    const logger = new RecordingLogger();
    const handler = handlerOver({ bad: refusingServer(), good }, { logger });
    await handler.startup();
    assertEquals(handler.toolNames, ["good__lookup"]);
    assertEquals(handler.serverStatus("good"), { status: "connected" });
    assertEquals(handler.serverStatus("bad")?.status, "failed");
    assertStringIncludes(handler.serverStatus("bad")!.error!, "out of order");
    assertEquals(logger.warnings.length, 1);
    await handler.shutdown();
    assertEquals(good.openCount, 0);

    const strict = new McpToolHandler({
      servers: {
        good: { transport: good.transport },
        bad: { transport: refusingServer().transport, required: true },
      },
      logger,
    });
    await assertRejects(() => strict.startup(), McpServerError, "out of order");
    assertEquals(good.openCount, 0);
    assertEquals(strict.serverStatus("good"), { status: "closed" });
  },
);

test("a required server that fails waits for no other", async () => {
  const logger = new RecordingLogger();
  const silent = new FakeServer();
  const strict = new McpToolHandler({
    servers: {
      slow: { transport: () => new Promise<never>(() => {}) },
      silent: { transport: silent.transport },
      bad: { transport: refusingServer().transport, required: true },
    },
    connectTimeoutMs: 1e9,
    logger,
  });
  await assertRejects(() => strict.startup(), McpServerError, "out of order");
  assertEquals(silent.openCount, 0);
  assertEquals(strict.serverStatus("slow"), { status: "closed" });
  assertEquals(strict.diagnostics, []);
});

test(
  "an effect for a tool that is not there is an error, unless its server is away",
  { case: "TL-143" },
  async () => {
    const toolEffects = {
      demo__nope: "read_only",
      demo__lookup: "read_only",
    } as const;
    const online = new FakeServer();
    const strict = handlerOver({ demo: online }, { toolEffects });
    const error = await assertRejects(
      () => strict.startup(),
      ToolDefinitionError,
    );
    assertStringIncludes(error.message, "demo__nope");
    assertEquals(error.message.includes("demo__lookup"), false);
    assertEquals(online.openCount, 0);

    const offline = handlerOver({ demo: refusingServer() }, { toolEffects });
    await offline.startup();
    assertEquals(
      offline.diagnostics.map(({ kind, toolName }) => [kind, toolName]),
      [
        ["server_failed", undefined],
        ["effects_unused", "demo__lookup"],
        ["effects_unused", "demo__nope"],
      ],
    );
    await offline.shutdown();
  },
);

test("only trusted hints make a tool read-only", async () => {
  const tools = [
    tool("read", { annotations: { readOnlyHint: true } }),
    tool("write"),
  ];
  const effects = async (
    options: {
      trustAnnotations?: boolean;
      toolEffects?: Record<string, "side_effecting">;
    },
  ) => {
    const { handler } = await startedDemo({ tools }, options);
    const found = handler.toolDefinitions.map(({ effect }) => effect);
    await handler.shutdown();
    return found;
  };
  assertEquals(await effects({}), ["side_effecting", "side_effecting"]);
  assertEquals(await effects({ trustAnnotations: true }), [
    "read_only",
    "side_effecting",
  ]);
  assertEquals(
    await effects({
      trustAnnotations: true,
      toolEffects: { demo__read: "side_effecting" },
    }),
    ["side_effecting", "side_effecting"],
  );
});

test("all pages are listed, and a cursor that comes back ends the list", {
  case: "B86",
}, async () => {
  const pages = [[tool("a")], [tool("b")], [tool("c")]];
  const { handler, server } = await startedDemo({ pages });
  assertEquals(handler.toolNames, ["demo__a", "demo__b", "demo__c"]);
  await handler.shutdown();

  const ending = await startedDemo({ pages, lastCursor: "" });
  assertEquals(ending.server.received.slice(2), Array(3).fill("tools/list"));
  await ending.handler.shutdown();

  const looping = new FakeServer({ pages, lastCursor: "9" });
  const other = handlerOver({ demo: looping });
  await other.startup();
  assertEquals(other.toolNames, ["demo__a", "demo__b", "demo__c"]);
  const count = (fake: FakeServer) =>
    fake.received.filter((method) => method === "tools/list").length;
  assertEquals([count(server), count(looping)], [3, 4]);
  await other.shutdown();
});

test("a server without tools is not asked for any", async () => {
  const { handler, server } = await startedDemo({
    capabilities: {},
    instructions: "Be kind",
  });
  assertEquals(handler.toolNames, []);
  assertEquals(handler.serverStatus("demo"), { status: "connected" });
  assertEquals(handler.serverInstructions("demo"), "Be kind");
  assertEquals(server.received.includes("tools/list"), false);
  await handler.shutdown();
});

test("one odd tool is put right or left out, the others work", {
  case: "B80",
}, async () => {
  const logger = new RecordingLogger();
  const told: McpDiagnostic[] = [];
  const { handler } = await startedDemo({
    tools: [
      tool("fine"),
      { name: "missing" },
      { name: "empty", inputSchema: {} },
      {
        name: "untyped",
        inputSchema: { properties: { a: { type: "string" } } },
      },
      { name: "text", inputSchema: { type: "string" } },
      {
        name: "itemless",
        inputSchema: {
          type: "object",
          properties: { list: { type: "array" } },
        },
      },
      {
        name: "choice",
        inputSchema: {
          type: "object",
          anyOf: [
            { properties: { id: { type: "integer" } }, required: ["id"] },
            {
              properties: { id: { type: "string" }, at: {} },
              required: ["id", "at"],
            },
          ],
        },
      },
      {
        name: "broken",
        inputSchema: { type: "object", properties: { a: { minLength: "x" } } },
      },
      { description: "nameless" },
      tool("task", { execution: { taskSupport: "required" } }),
      "no tool at all",
    ],
  }, { logger, onDiagnostic: (one) => told.push(one) });

  const parameters = Object.fromEntries(
    handler.toolDefinitions.map(({ name, parameters }) => [name, parameters]),
  );
  const none = { type: "object", properties: {} };
  assertEquals(parameters, {
    demo__fine: none,
    demo__missing: none,
    demo__empty: none,
    demo__untyped: { type: "object", properties: { a: { type: "string" } } },
    demo__itemless: {
      type: "object",
      properties: { list: { type: "array", items: {} } },
    },
    demo__choice: {
      type: "object",
      properties: {
        id: { anyOf: [{ type: "integer" }, { type: "string" }] },
        at: {},
      },
      required: ["id"],
    },
  });
  assertEquals(
    handler.diagnostics.map(({ toolName }) => toolName),
    ["text", "broken", "", "task", ""],
  );
  assertEquals(told, [...handler.diagnostics]);
  assertEquals(logger.warnings.length, 5);
  await handler.shutdown();
});

test("results are checked against the output schema of every page", {
  case: "B79",
}, async () => {
  const outputSchema = {
    type: "object",
    properties: { n: { type: "integer" } },
    required: ["n"],
  };
  let result: unknown;
  const { handler } = await startedDemo({
    pages: [[tool("first", { outputSchema })], [tool("second")]],
    call: () => result,
  });
  const violation =
    "MCP tool returned structured content that violates its output schema";
  for (const structuredContent of [{ n: "x" }, {}, undefined]) {
    result = { ...texts("x"), structuredContent };
    await assertRejects(
      () => handler.dispatch("demo__first", {}),
      McpToolError,
      violation,
    );
  }
  result = { structuredContent: { n: 1 } };
  assertEquals((await handler.dispatch("demo__first", {})).data, { n: 1 });
  result = { ...texts("no luck"), isError: true };
  await assertRejects(
    () => handler.dispatch("demo__first", {}),
    McpToolError,
    "no luck",
  );
  await handler.shutdown();
});

test("a broken output schema is reported and leaves the tool in use", async () => {
  const { handler } = await startedDemo({
    tools: [tool("odd", { outputSchema: { type: "nothing known" } })],
  });
  assertEquals(handler.diagnostics.map(({ kind }) => kind), [
    "output_unchecked",
  ]);
  assertEquals((await handler.dispatch("demo__odd", {})).data, "done");
  await handler.shutdown();
});

test("a handler that was shut down can be started again", async () => {
  const { handler, server } = await startedDemo();
  await handler.startup();
  assertEquals(server.openCount, 1);
  await handler.shutdown();
  assertEquals([server.openCount, handler.toolNames], [0, []]);
  await handler.startup();
  assertEquals((await handler.dispatch("demo__lookup", {})).data, "done");
  await handler.shutdown();
  assertEquals(server.openCount, 0);
});
