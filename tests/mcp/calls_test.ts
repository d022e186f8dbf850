import {
  McpServerError,
  McpToolError,
  McpToolHandler,
} from "../../src/mcp/mod.ts";
import { calls, text } from "../../src/testing/mod.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { UnknownToolError } from "../../src/tools/errors.ts";
import { agentWith, toolResultsOf } from "../agent/fixtures.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { FakeTime, settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { FakeHttpServer, FakeServer, texts, tool } from "./fake_server.ts";
import { handlerOver, startedDemo } from "./kit.ts";

const lookup = { id: "c1", name: "demo__lookup" };

test("a failed tool is an error that the model reads", {
  case: "TL-144",
}, async () => {
  const demo = new FakeServer({
    call: () => ({ ...texts("no such row"), isError: true }),
  });
  const { agent, sink } = agentWith([calls([lookup]), text("ok")], {
    tools: [handlerOver({ demo })],
  });
  await agent.run("go");
  assertEquals(toolResultsOf(agent.state.messages), [
    { status: "error", tool: "demo__lookup", error: "no such row" },
  ]);
  const completed = sink.events.find(({ kind }) => kind === "tool_completed");
  assertEquals(
    completed?.kind === "tool_completed" && completed.result.error,
    "no such row",
  );
  await agent.shutdown();
});

test("a server that never answers times out, and the run goes on", {
  case: "TL-148",
}, async () => {
  using time = new FakeTime();
  const demo = new FakeServer({ call: () => deferred().promise });
  const { agent } = agentWith([calls([lookup]), text("ok")], {
    tools: [handlerOver({ demo }, { timeoutMs: 20 })],
  });
  const run = agent.run("go");
  while (!demo.received.includes("tools/call lookup")) await time.tick(0);
  await time.tick(20);
  assertEquals((await run).output, "ok");
  assertEquals(toolResultsOf(agent.state.messages), [
    {
      status: "error",
      tool: "demo__lookup",
      error:
        "MCP request timed out: demo did not answer lookup within 20 ms (timeoutMs)",
    },
  ]);
  assertEquals(demo.received.at(-1), "notifications/cancelled");
  await agent.shutdown();
});

test("an error that shares its code with one of ours is told as it is", async () => {
  const answers = [
    { code: -32000, message: "The quota is used up" },
    { code: -32001, message: "There is no such row" },
  ];
  const { handler } = await startedDemo({
    call: () => {
      throw answers.shift();
    },
  });
  for (const { code, message } of [...answers]) {
    await assertRejects(
      () => handler.dispatch("demo__lookup", {}),
      McpServerError,
      `MCP error ${code}: ${message}`,
    );
  }
  await handler.shutdown();
});

test("progress reaches the observers before the result", {
  case: "TL-149",
}, async () => {
  const demo = new FakeServer({
    call: ({ progress }) => {
      progress({ progress: 1, total: 3 });
      progress({ progress: 2, total: 3, message: "half" });
      progress({ progress: 3 });
      return texts("done");
    },
  });
  const { agent, sink } = agentWith([calls([lookup]), text("ok")], {
    tools: [handlerOver({ demo })],
  });
  await agent.run("go");
  const told = sink.events.flatMap((event): unknown[] =>
    event.kind === "tool_progressed"
      ? [event.update]
      : event.kind === "tool_completed"
      ? ["completed"]
      : []
  );
  assertEquals(told, [
    { message: "1/3", data: { progress: 1, total: 3 } },
    { message: "half", data: { progress: 2, total: 3 } },
    { message: "3", data: { progress: 3 } },
    "completed",
  ]);
  await agent.shutdown();
});

test("progress extends the time of a call, up to the total", {
  case: "B90",
}, async () => {
  using time = new FakeTime();
  let asked = 0;
  const finished = deferred<unknown>();
  const demo = new FakeServer({
    call: ({ progress }) => {
      asked += 1;
      const timer = setInterval(() => progress({ progress: 1 }), 100);
      setTimeout(() => finished.resolve(texts("late")), 1000);
      return finished.promise.finally(() => clearInterval(timer));
    },
  });
  const patient = handlerOver({ demo }, { timeoutMs: 300 });
  await patient.startup();
  const answer = patient.dispatch("demo__lookup", {});
  while (asked === 0) await time.tick(0);
  await time.tick(1000);
  assertEquals((await answer).data, "late");
  await patient.shutdown();

  let isCancelled = false;
  const options = { timeoutMs: 300, maxTotalTimeoutMs: 550 };
  const capped = handlerOver({
    demo: new FakeServer({
      call: ({ progress, signal }) => {
        asked += 1;
        const timer = setInterval(() => progress({ progress: 1 }), 100);
        const never = deferred();
        signal.addEventListener("abort", () => {
          isCancelled = true;
          never.resolve();
        });
        return never.promise.finally(() => clearInterval(timer));
      },
    }),
  }, options);
  await capped.startup();
  const refused = assertRejects(
    () => capped.dispatch("demo__lookup", {}),
    McpServerError,
    "MCP request timed out: demo did not answer lookup within 550 ms (maxTotalTimeoutMs)",
  );
  while (asked === 1) await time.tick(0);
  await time.tick(549);
  assertEquals(isCancelled, false);
  await time.tick(1);
  await refused;
  assertEquals(isCancelled, true);
  await capped.shutdown();
});

test("an abort cancels the call on the server and ends the run", {
  case: ["TL-154", "B53"],
}, async () => {
  const entered = deferred();
  const cancelled = deferred<unknown>();
  const demo = new FakeServer({
    call: ({ signal }) => {
      signal.addEventListener("abort", () => cancelled.resolve(signal.reason));
      entered.resolve();
      return deferred().promise;
    },
  });
  const { agent } = agentWith([calls([lookup]), text("never")], {
    tools: [handlerOver({ demo })],
  });
  const run = agent.run("go");
  await entered.promise;
  agent.abort("enough");
  const result = await run;
  assertEquals(result.status, "cancelled");
  assertEquals(String(await cancelled.promise).includes("enough"), true);
  assertEquals(toolResultsOf(agent.state.messages), [
    { status: "cancelled", tool: "demo__lookup", error: "enough" },
  ]);
  await agent.shutdown();
});

test("an abort concerns only what is pending", async () => {
  const { handler, server } = await startedDemo();
  const controller = new AbortController();
  const { signal } = controller;
  await handler.dispatch("demo__lookup", {}, { signal });
  controller.abort(new Error("later"));
  await settle();
  assertEquals(server.received.includes("notifications/cancelled"), false);

  const count = server.received.length;
  const error = await assertRejects(
    () => handler.dispatch("demo__lookup", {}, { signal }),
    Error,
    "later",
  );
  assertEquals(error, signal.reason);
  assertEquals(server.received.length, count);
  await handler.shutdown();
});

test("a lost connection is made once more for the next call", {
  case: ["TL-151", "B89"],
}, async () => {
  const { handler, server } = await startedDemo();
  server.drop();
  assertEquals(handler.serverStatus("demo"), { status: "closed" });
  assertEquals(handler.toolNames, ["demo__lookup"]);

  server.options.tools = [tool("lookup"), tool("new")];
  const both = await Promise.all([
    handler.dispatch("demo__lookup", {}),
    handler.dispatch("demo__lookup", {}),
  ]);
  assertEquals(both.map(({ data }) => data), ["done", "done"]);
  assertEquals([server.handshakes.length, server.openCount], [2, 1]);
  assertEquals(handler.toolNames, ["demo__lookup", "demo__new"]);

  server.drop();
  server.options.initialize = () => {
    throw new Error("out of order");
  };
  await assertRejects(
    () => handler.dispatch("demo__lookup", {}),
    McpServerError,
    "MCP server demo is not connected",
  );
  assertEquals(server.received.filter((one) => one === "initialize").length, 3);
  await handler.shutdown();
});

test("a call that was pending when the connection went is not repeated", async () => {
  const { handler, server } = await startedDemo({
    call: () => {
      server.drop();
      return deferred().promise;
    },
  });
  await assertRejects(
    () => handler.dispatch("demo__lookup", {}),
    McpServerError,
  );
  assertEquals(
    server.received.filter((one) => one === "tools/call lookup").length,
    1,
  );
  await handler.shutdown();
});

test(
  "a session that the server forgot is replaced, and the call sent once more",
  {
    case: "B88",
  },
  async () => {
    const demo = new FakeServer();
    const http = new FakeHttpServer(demo);
    const handler = handlerOverHttp(http);
    await handler.startup();
    http.forget();
    demo.options.tools = [tool("lookup"), tool("new")];
    assertEquals((await handler.dispatch("demo__lookup", {})).data, "done");
    assertEquals(
      demo.received,
      [
        "initialize",
        "tools/list",
        "initialize",
        "tools/list",
        "tools/call lookup",
      ],
    );
    assertEquals(handler.toolNames, ["demo__lookup", "demo__new"]);

    http.forget();
    demo.options.tools = [tool("new")];
    await assertRejects(
      () => handler.dispatch("demo__lookup", {}),
      UnknownToolError,
    );

    // A server that forgets at once does not keep the client busy for ever.
    const calls = http.requests.length;
    http.beforeCall = () => http.forget();
    await assertRejects(
      () => handler.dispatch("demo__new", {}),
      McpServerError,
      "MCP server demo is not connected",
    );
    assertEquals(http.requests.length - calls < 12, true);
    http.beforeCall = undefined;
    await handler.shutdown();
  },
);

test("a server that says 400 to a forgotten session is understood", async () => {
  const demo = new FakeServer();
  const http = new FakeHttpServer(demo);
  const handler = handlerOverHttp(http);
  await handler.startup();
  http.unknownSession = ["Bad Request: No valid session ID provided", 400];
  http.forget();
  assertEquals((await handler.dispatch("demo__lookup", {})).data, "done");

  http.unknownSession = ["Bad Request: No such row", 400];
  http.forget();
  await assertRejects(
    () => handler.dispatch("demo__lookup", {}),
    McpServerError,
    "MCP server demo answered HTTP 400",
  );
  await handler.shutdown();
});

test("a forgotten session leaves its other calls alone", async () => {
  const hanging = deferred();
  const begun = deferred();
  const demo = new FakeServer({
    tools: [tool("look"), tool("wait")],
    call: async ({ name }) => {
      if (name === "look") return;
      begun.resolve();
      await hanging.promise;
      return texts("waited");
    },
  });
  const http = new FakeHttpServer(demo);
  const handler = handlerOverHttp(http);
  await handler.startup();
  const waiting = handler.dispatch("demo__wait", {});
  await begun.promise;
  http.forget();
  const looks = await Promise.all(
    [1, 2, 3].map(() => handler.dispatch("demo__look", {})),
  );
  assertEquals(looks.map(({ data }) => data), ["done", "done", "done"]);
  assertEquals(demo.handshakes.length, 2);
  hanging.resolve();
  assertEquals((await waiting).data, "waited");
  await handler.shutdown();
});

test("a server that answers again is connected", async () => {
  const http = new FakeHttpServer(new FakeServer());
  const handler = handlerOverHttp(http);
  await handler.startup();
  http.refusal = 401;
  await handler.dispatch("demo__lookup", {}).catch(() => {});
  assertEquals(handler.serverStatus("demo")?.status, "needs_auth");
  http.refusal = null;
  await handler.dispatch("demo__lookup", {});
  assertEquals(handler.serverStatus("demo"), { status: "connected" });
  await handler.shutdown();
});

test("a session over HTTP is ended on the server", async () => {
  const http = new FakeHttpServer(new FakeServer());
  const handler = handlerOverHttp(http, {
    headers: { "x-team": "a" },
    auth: "token-1",
  });
  await handler.startup();
  await handler.dispatch("demo__lookup", {});
  await handler.shutdown();
  assertEquals(http.requests.at(-1), "DELETE session-1");
  assertEquals(
    http.headers.map((headers) => [
      headers.get("x-team"),
      headers.get("authorization"),
    ]).every(([team, auth]) => team === "a" && auth === "Bearer token-1"),
    true,
  );
});

test("of a refused request only the status is told", async () => {
  const http = new FakeHttpServer(new FakeServer());
  const handler = handlerOverHttp(http);
  await handler.startup();
  http.refusal = 500;
  const error = await assertRejects(
    () => handler.dispatch("demo__lookup", {}),
    McpServerError,
  );
  assertEquals(error.message, "MCP server demo answered HTTP 500");
  assertEquals([error.httpStatus, error.cause], [500, undefined]);
  await handler.shutdown();

  http.refusal = 401;
  await handler.startup();
  assertEquals(handler.serverStatus("demo"), {
    status: "needs_auth",
    error:
      "MCP server demo answered HTTP 401; give it an authProvider, or a token as auth",
  });
  await handler.shutdown();
});

for (const path of ["mcp", "sse"]) {
  test(`a server at /${path} that cannot be reached says nothing of its address`, async () => {
    const handler = new McpToolHandler({
      servers: { demo: { url: `https://user:secret@demo.example/${path}` } },
      http: {
        fetch: (url) =>
          Promise.reject(new TypeError(`fetch failed for ${url}`)),
      },
      logger: new RecordingLogger(),
    });
    await handler.startup();
    assertEquals(handler.serverStatus("demo"), {
      status: "failed",
      error: "MCP server demo cannot be reached",
    });
    await handler.shutdown();
  });
}

const unreachable = "MCP server demo cannot be reached";
const address = "https://user:secret@demo.example/tls";
const failedRequests: readonly (readonly [string, Error, string])[] = [
  [
    "refused on Node",
    new TypeError("fetch failed", {
      cause: Object.assign(new Error(`connect ECONNREFUSED 1.2.3.4:443`), {
        code: "ECONNREFUSED",
      }),
    }),
    `${unreachable}: the connection was refused`,
  ],
  [
    "refused on Deno",
    new TypeError(
      `error sending request for url (${address}): client error (Connect): tcp connect error: Connection refused (os error 111)`,
    ),
    `${unreachable}: the connection was refused`,
  ],
  [
    "refused on Bun",
    Object.assign(new Error("Unable to connect"), {
      code: "ConnectionRefused",
    }),
    `${unreachable}: the connection was refused`,
  ],
  [
    "an unknown host",
    new TypeError("fetch failed", {
      cause: new Error("getaddrinfo ENOTFOUND demo.example"),
    }),
    `${unreachable}: its host is not known`,
  ],
  [
    "a certificate that is not trusted",
    new TypeError("fetch failed", {
      cause: Object.assign(new Error("self-signed certificate"), {
        code: "DEPTH_ZERO_SELF_SIGNED_CERT",
      }),
    }),
    `${unreachable}: there is no secure connection to it`,
  ],
  ["anything else", new TypeError(`fetch failed for ${address}`), unreachable],
  [
    "a mistake in the program",
    new TypeError("provider.tokens is not a function"),
    "provider.tokens is not a function",
  ],
];

for (const [what, failure, error] of failedRequests) {
  test(`a failed request says why: ${what}`, async () => {
    const handler = new McpToolHandler({
      servers: { demo: { url: address } },
      http: { fetch: () => Promise.reject(failure) },
      logger: new RecordingLogger(),
    });
    await handler.startup();
    assertEquals(handler.serverStatus("demo"), { status: "failed", error });
    await handler.shutdown();
  });
}

test("errors of the protocol are told as they are", async () => {
  const { handler } = await startedDemo({
    call: ({ name }) => {
      if (name === "lookup") {
        throw Object.assign(new Error("bad arguments"), { code: -32602 });
      }
    },
  });
  await assertRejects(
    () => handler.dispatch("demo__lookup", {}),
    McpServerError,
    "bad arguments",
  );
  await handler.shutdown();
});

test("a result may be converted in another way", async () => {
  const { handler } = await startedDemo({
    call: () => ({ content: [{ type: "novel" }] }),
  }, { convertResult: (_, { toolName }) => `said ${toolName}` });
  assertEquals(
    (await handler.dispatch("demo__lookup", {})).data,
    "said demo__lookup",
  );
  await handler.shutdown();

  const { handler: silent } = await startedDemo({
    call: () => ({ isError: true }),
  });
  await assertRejects(
    () => silent.dispatch("demo__lookup", {}),
    McpToolError,
    "MCP tool reported an error",
  );
  await silent.shutdown();
});

function handlerOverHttp(
  http: FakeHttpServer,
  server: {
    readonly headers?: Record<string, string>;
    readonly auth?: string;
  } = {},
): McpToolHandler {
  return new McpToolHandler({
    servers: { demo: { url: "https://demo.example/mcp", ...server } },
    http: { fetch: http.fetch },
    logger: new RecordingLogger(),
  });
}
