import {
  type AgentLike,
  complete,
  defineTool,
  type Middleware,
  reject,
  runResult,
} from "../../mod.ts";
import { createA2AHandler, MemoryTaskStore } from "../../src/a2a/mod.ts";
import {
  block,
  calls,
  deltas,
  fail,
  ManualClock,
  silentLogger,
  text,
  thinking,
} from "../../src/testing/mod.ts";
import { echo } from "../agent/fixtures.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { framesOf, outcomeOf, rpc, saying, serve } from "./fixtures.ts";

const stamp = "2026-01-02T00:00:00.000Z";

test("the card says where and how the agent can be reached", {
  case: "PL-F-14",
}, async () => {
  const { handler } = serve([], { path: "/agents/guide" });
  const expected = {
    name: "Served",
    description: "Answers.",
    version: "1.2.3",
    supportedInterfaces: [{
      url: "https://host.example/agents/guide",
      protocolBinding: "JSONRPC",
      protocolVersion: "1.0",
    }],
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
  };
  for (const place of ["", "/agents/guide"]) {
    const url = `https://host.example${place}/.well-known/agent-card.json`;
    const response = await handler(new Request(url));
    assertEquals(response.status, 200);
    assertEquals(await response.json(), expected);
  }
});

test("what is no call is refused in the way that fits", {
  case: "PL-F-14",
}, async () => {
  const { handler, model } = serve([]);
  const at = (path: string, init?: RequestInit) =>
    handler(new Request(`http://served.example${path}`, init));
  const put = await at("/", { method: "PUT" });
  assertEquals([put.status, put.headers.get("allow")], [405, "POST"]);
  const post = await at("/.well-known/agent-card.json", { method: "POST" });
  assertEquals([post.status, post.headers.get("allow")], [405, "GET"]);
  assertEquals((await at("/nowhere")).status, 404);

  const json = { "content-type": "application/json" };
  const send = async (body: string, headers: HeadersInit = json) =>
    await outcomeOf(await at("/", { method: "POST", headers, body }));
  assertEquals(await send("{"), -32700);
  assertEquals(await send("[]"), -32600);
  assertEquals(await send('{"jsonrpc":"2.0","id":{},"method":"x"}'), -32600);
  assertEquals(await send("{}", { "content-type": "text/plain" }), -32005);
  const call = '{"jsonrpc":"2.0","id":1,"method":"Dance"}';
  assertEquals(await send(call), -32601);
  assertEquals(await send(call, { ...json, "a2a-version": "0.3" }), -32009);
  assertEquals(await send(call, { ...json, "a2a-version": "1.0" }), -32601);
  assertEquals(model.requests.length, 0);
});

test("a body beyond the limit is not read", { case: "PL-F-14" }, async () => {
  const { handler } = serve([]);
  const request = (body: BodyInit) =>
    new Request("http://served.example/", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      duplex: "half",
    } as RequestInit);
  const large = new Uint8Array(2 * 1024 * 1024);
  assertEquals((await handler(request(large))).status, 413);

  let pulls = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulls += 1;
      controller.enqueue(large.subarray(0, 512 * 1024));
    },
  });
  assertEquals((await handler(request(endless))).status, 413);
  assert(pulls < 8, `${pulls} pieces were read`);
});

test("wrong parameters are named", async () => {
  const { handler } = serve([]);
  const wrong = [
    undefined,
    {},
    { message: { role: "ROLE_USER", parts: [] } },
    { message: { messageId: "m", role: "user", parts: [{ text: "t" }] } },
    { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "  " }] } },
    { message: { messageId: "m", role: "ROLE_USER" } },
  ];
  for (const params of wrong) {
    const response = await handler(rpc("SendMessage", params));
    assertEquals(await outcomeOf(response), -32602);
  }
  assertEquals(await outcomeOf(await handler(rpc("GetTask", {}))), -32602);
});

test("methods that are not offered have the codes of the protocol", async () => {
  const { handler } = serve([]);
  const codes: unknown[] = [];
  for (
    const method of [
      "ListTasks",
      "SubscribeToTask",
      "CreateTaskPushNotificationConfig",
      "GetExtendedAgentCard",
    ]
  ) codes.push(await outcomeOf(await handler(rpc(method, {}))));
  assertEquals(codes, [-32004, -32004, -32003, -32007]);

  const refused = await (await handler(rpc("GetTask", { id: "x" }))).json();
  assertEquals(refused.error.data, [{
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason: "TASK_NOT_FOUND",
    domain: "a2a-protocol.org",
  }]);
});

test("a stream shows the task, its work, its text and its end", {
  case: "PL-F-15",
}, async () => {
  const { handler } = serve([
    deltas(
      [thinking("hush"), "let me ", "look"],
      calls([{ name: "echo", arguments: { key: "tool secret" } }], {
        content: "let me look",
      }),
    ),
    text("found"),
  ], { agent: { tools: [echo] } });
  const response = await handler(rpc("SendStreamingMessage", saying("t")));
  assertEquals(response.headers.get("content-type"), "text/event-stream");
  const frames = await framesOf(response);
  const ids = { taskId: "s-2", contextId: "s-1" };
  const artifact = (id: string, text: string) => ({
    artifactId: id,
    parts: [{ text, mediaType: "text/plain" }],
  });
  const status = (state: string) => ({
    ...ids,
    status: { state: `TASK_STATE_${state}`, timestamp: stamp },
  });
  assertEquals(frames, [
    {
      task: {
        id: "s-2",
        contextId: "s-1",
        status: { state: "TASK_STATE_SUBMITTED", timestamp: stamp },
      },
    },
    { statusUpdate: status("WORKING") },
    { artifactUpdate: { ...ids, artifact: artifact("message-1", "let me ") } },
    {
      artifactUpdate: {
        ...ids,
        artifact: artifact("message-1", "look"),
        append: true,
      },
    },
    { artifactUpdate: { ...ids, artifact: artifact("message-2", "found") } },
    { statusUpdate: status("COMPLETED") },
  ]);

  const task = await outcomeOf(await handler(rpc("GetTask", { id: "s-2" })));
  assertEquals(task, {
    id: "s-2",
    contextId: "s-1",
    status: { state: "TASK_STATE_COMPLETED", timestamp: stamp },
    artifacts: [
      artifact("message-1", "let me look"),
      artifact("message-2", "found"),
    ],
  });
});

test("a message that middleware replaced is replaced in its artifact", async () => {
  const redacting: Middleware = {
    async *aroundModel(_request, next) {
      const response = yield* next();
      const message = { ...response.message, content: "[redacted]" };
      return { ...response, message };
    },
  };
  const { handler } = serve([deltas(["sec", "ret"])], {
    agent: { middleware: [redacting] },
  });
  const { task } = await outcomeOf(
    await handler(rpc("SendMessage", saying("t"))),
  );
  assertEquals(task.artifacts.map(partsOf), ["[redacted]"]);
});

test("an output that no message said is an artifact of its own", async () => {
  const cached: Middleware = {
    // deno-lint-ignore require-yield
    async *aroundRun() {
      return runResult({ stopReason: "text_response", output: "cached" });
    },
  };
  const finish = defineTool({
    name: "finish",
    execute: () => complete("done"),
  });
  const outputs: unknown[] = [];
  for (
    const { handler } of [
      serve([], { agent: { middleware: [cached] } }),
      serve([calls(["finish"], { content: "soon" })], {
        agent: { tools: [finish] },
      }),
    ]
  ) {
    const { task } = await outcomeOf(
      await handler(rpc("SendMessage", saying("t"))),
    );
    outputs.push([task.status.state, task.artifacts.map(partsOf)]);
  }
  assertEquals(outputs, [
    ["TASK_STATE_COMPLETED", ["cached"]],
    ["TASK_STATE_COMPLETED", ["soon", "done"]],
  ]);
});

test("why a run failed or was refused stays here unless it is exposed", {
  case: "PL-F-16",
}, async () => {
  const no = defineTool({ name: "no", execute: () => reject("secret rule") });
  for (const exposeErrors of [false, true]) {
    const broken: Middleware = {
      async *aroundRun(_request, next) {
        yield* next();
        throw new Error("secret mistake");
      },
    };
    const texts: unknown[] = [];
    for (
      const { handler } of [
        serve([fail(new Error("secret key"))], { exposeErrors }),
        serve([calls(["no"])], { exposeErrors, agent: { tools: [no] } }),
        serve([text("x")], { exposeErrors, agent: { middleware: [broken] } }),
      ]
    ) {
      const response = await handler(rpc("SendStreamingMessage", saying("t")));
      const written = await response.text();
      assertEquals(written.includes("secret"), exposeErrors);
      const { status } = JSON.parse(written.trim().split("data: ").at(-1)!)
        .result.statusUpdate;
      texts.push([status.state, status.message.parts[0].text]);
    }
    assertEquals(
      texts,
      exposeErrors
        ? [
          ["TASK_STATE_FAILED", "secret key"],
          ["TASK_STATE_REJECTED", "secret rule"],
          ["TASK_STATE_FAILED", "secret mistake"],
        ]
        : [
          ["TASK_STATE_FAILED", "The agent failed"],
          ["TASK_STATE_REJECTED", "The agent refused the task"],
          ["TASK_STATE_FAILED", "The agent failed"],
        ],
    );
  }
});

test("a task is asked for while it runs and cancelled once", async () => {
  const gate = block();
  const { handler, agent } = serve([deltas(["par"], gate)]);
  const response = await handler(rpc("SendStreamingMessage", saying("t")));
  await gate.entered;
  const working = await outcomeOf(await handler(rpc("GetTask", { id: "s-2" })));
  assertEquals(
    [working.status.state, working.artifacts.map(partsOf)],
    ["TASK_STATE_WORKING", ["par"]],
  );
  const cancelled = await outcomeOf(
    await handler(rpc("CancelTask", { id: "s-2" })),
  );
  assertEquals(cancelled.status.state, "TASK_STATE_CANCELED");
  assertEquals(agent.state.lastRunResult?.status, "cancelled");
  const last = (await framesOf(response)).at(-1);
  assertEquals(last.statusUpdate.status.state, "TASK_STATE_CANCELED");
  const codes = [];
  for (const id of ["s-2", "nothing"]) {
    codes.push(await outcomeOf(await handler(rpc("CancelTask", { id }))));
  }
  assertEquals(codes, [-32002, -32001]);
});

test("a client that leaves cancels its run", async () => {
  const reading = block();
  const first = serve([reading]);
  const response = await first.handler(
    rpc("SendStreamingMessage", saying("t")),
  );
  await reading.entered;
  await response.body!.cancel();
  const task = await outcomeOf(
    await first.handler(rpc("GetTask", { id: "s-2" })),
  );
  assertEquals(task.status.state, "TASK_STATE_CANCELED");

  const waiting = block();
  const second = serve([waiting]);
  const controller = new AbortController();
  const request = new Request(rpc("SendMessage", saying("t")), {
    signal: controller.signal,
  });
  const answer = second.handler(request);
  await waiting.entered;
  controller.abort();
  const left = await outcomeOf(await answer);
  assertEquals(left.task.status.state, "TASK_STATE_CANCELED");
});

test("a client that does not wait asks for its task later", async () => {
  const gate = block(text("done"));
  const tasks = new MemoryTaskStore();
  const over = deferred();
  const { handler } = serve([gate], {
    tasks: {
      load: (id) => tasks.load(id),
      save(task) {
        tasks.save(task);
        if (task.status.state === "TASK_STATE_COMPLETED") over.resolve();
      },
    },
  });
  const params = saying("t") as Record<string, unknown>;
  const controller = new AbortController();
  const request = new Request(
    rpc("SendMessage", {
      ...params,
      configuration: { returnImmediately: true },
    }),
    { signal: controller.signal },
  );
  const { task } = await outcomeOf(await handler(request));
  assertEquals(task.status.state, "TASK_STATE_SUBMITTED");
  controller.abort();
  await gate.entered;
  gate.release();
  await over.promise;
  const later = await outcomeOf(await handler(rpc("GetTask", { id: task.id })));
  assertEquals(
    [later.status.state, later.artifacts.map(partsOf)],
    ["TASK_STATE_COMPLETED", ["done"]],
  );
});

test("a run goes on when nobody reads, and its task is kept", async () => {
  const { handler, agent } = serve([deltas(["a", "b", "c"])]);
  const response = await handler(rpc("SendStreamingMessage", saying("t")));
  await agent.waitForIdle();
  assertEquals(agent.state.lastRunResult?.output, "abc");
  const frames = await framesOf(response);
  assertEquals(frames.length, 6);
});

test("a silent run keeps its connection open", async () => {
  const gate = block();
  const clock = new ManualClock();
  const { handler } = serve([gate], { clock });
  const response = await handler(rpc("SendStreamingMessage", saying("t")));
  const reader = response.body!.getReader();
  const read = async () =>
    new TextDecoder().decode((await reader.read()).value).slice(0, 8);
  await gate.entered;
  assertEquals([await read(), await read()], ['data: {"', 'data: {"']);
  const ping = read();
  await clock.advanceAsync(15_000);
  assertEquals(await ping, ": ping\n\n");
  gate.release();
  await reader.cancel();
  assertEquals(clock.pending, 0);
});

test("tasks of one context run one after the other", async () => {
  const gate = block(text("one"));
  const { handler, contexts } = serve([gate, text("two")]);
  const first = handler(rpc("SendMessage", saying("t", { contextId: "x" })));
  await gate.entered;
  const second = handler(rpc("SendMessage", saying("u", { contextId: "x" })));
  gate.release();
  const outputs: unknown[] = [];
  for (const answer of [first, second]) {
    const { task } = await outcomeOf(await answer);
    outputs.push([task.contextId, ...task.artifacts.map(partsOf)]);
  }
  assertEquals(outputs, [["x", "one"], ["x", "two"]]);
  assertEquals(contexts, ["x", "x"]);
});

test("a task takes no second message", async () => {
  const { handler } = serve([text("one")]);
  await handler(rpc("SendMessage", saying("t")));
  const codes: unknown[] = [];
  for (const taskId of ["s-2", "nothing"]) {
    const again = await handler(rpc("SendMessage", saying("u", { taskId })));
    codes.push(await outcomeOf(again));
  }
  assertEquals(codes, [-32004, -32001]);
});

test("a request can be turned away, the card cannot", async () => {
  const { handler, model } = serve([text("x")], {
    authorize: (request) =>
      request.headers.get("authorization") === "Bearer k"
        ? undefined
        : new Response(null, { status: 401 }),
  });
  const stranger = await handler(rpc("SendMessage", saying("t")));
  assertEquals([stranger.status, model.requests.length], [401, 0]);
  const known = rpc("SendMessage", saying("t"), { authorization: "Bearer k" });
  assertEquals((await handler(known)).status, 200);
  const card = new Request("http://served.example/.well-known/agent-card.json");
  assertEquals((await handler(card)).status, 200);
});

test("an agent that cannot be found is an internal error without a reason", async () => {
  const { handler, logger } = serve([], {
    agentFor(): AgentLike {
      throw new Error("secret place");
    },
  });
  const response = await handler(rpc("SendMessage", saying("t")));
  const { error } = await response.json();
  assertEquals(error, {
    code: -32603,
    message: "The agent could not answer",
  });
  assertEquals(logger.warnings.map(({ details }) => details), [
    { method: "SendMessage", error: "secret place" },
  ]);
});

test("a store that fails ends the stream with an error, or the call", async () => {
  let saves = 0;
  const failingAt = (count: number) => ({
    load: () => null,
    save() {
      if (++saves === count) throw new Error("disk full");
    },
  });
  const first = serve([], { tasks: failingAt(1) });
  const refused = await first.handler(rpc("SendStreamingMessage", saying("t")));
  assertEquals(await outcomeOf(refused), -32603);

  saves = 0;
  const second = serve([text("x")], { tasks: failingAt(2) });
  const response = await second.handler(
    rpc("SendStreamingMessage", saying("t")),
  );
  const written = await response.text();
  assert(!written.includes("disk full"), written);
  assert(written.includes("event: error\ndata: "), written);
});

test("tasks that are over make room first", () => {
  const tasks = new MemoryTaskStore(2);
  const save = (id: string, state: "WORKING" | "COMPLETED") =>
    tasks.save({
      id,
      contextId: "c",
      status: { state: `TASK_STATE_${state}` },
    });
  const kept = () => ["1", "2", "3", "4"].filter((id) => tasks.load(id));
  save("1", "WORKING");
  save("2", "COMPLETED");
  save("3", "WORKING");
  assertEquals(kept(), ["1", "3"]);
  save("4", "WORKING");
  assertEquals(kept(), ["3", "4"]);
  assertThrows(() => new MemoryTaskStore(0), RangeError);
});

test("a path must be absolute", () => {
  const card = { name: "x", description: "", version: "1" };
  assertThrows(
    () =>
      createA2AHandler({
        card,
        path: "here",
        logger: silentLogger,
        agentFor: () => {
          throw new Error("never");
        },
      }),
    TypeError,
    "slash",
  );
});

function partsOf(artifact: { parts: { text: string }[] }): string {
  return artifact.parts.map((part) => part.text).join("|");
}
