import {
  AgentBusyError,
  AgentConfigurationError,
  contextMiddleware,
  RuleBasedToolPolicy,
  systemMessage,
  ToolPolicyMiddleware,
} from "../../mod.ts";
import { A2AAgent } from "../../src/a2a/mod.ts";
import { telemetry } from "../../src/telemetry/mod.ts";
import { block, deltas, ManualClock, text } from "../../src/testing/mod.ts";
import { kindsOf } from "../pipeline/fixtures.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertThrows,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import {
  agentMessage,
  artifactFrame,
  remote,
  serve,
  statusFrame,
  streaming,
  taskFrame,
} from "./fixtures.ts";

test("middleware that wraps no runs is refused", { case: "PL-F-06" }, () => {
  const { agent } = remote(() => new Response());
  const policy = new RuleBasedToolPolicy([]);
  assertThrows(
    () => agent.use(new ToolPolicyMiddleware(policy)),
    AgentConfigurationError,
  );
  agent.use(telemetry());
});

test("an agent that is served is asked like a local one", {
  case: ["PL-F-07", "PL-F-20"],
}, async () => {
  const served = serve([deltas(["he", "llo"]), text("again")]);
  const { agent, calls } = remote(served.handler);
  const stream = agent.stream("t");
  const deltasSeen: string[] = [];
  const kinds: string[] = [];
  const sequences: number[] = [];
  for await (const event of stream) {
    kinds.push(event.kind);
    sequences.push(event.sequence);
    if (event.kind === "assistant_text_delta") deltasSeen.push(event.delta);
  }
  const result = await stream.finalResult();
  assertEquals(kinds, [
    "agent_started",
    "turn_started",
    "assistant_text_delta",
    "assistant_text_delta",
    "message_completed",
    "turn_completed",
    "agent_finished",
  ]);
  assertEquals(sequences, [1, 2, 3, 4, 5, 6, 7]);
  assertEquals(deltasSeen, ["he", "llo"]);
  assertEquals(
    [result.status, result.stopReason, result.output, result.turns],
    ["completed", "text_response", "hello", 1],
  );
  assertEquals(
    [result.usage.requestCount, result.usage.complete],
    [1, false],
  );

  assertEquals((await agent.run("u")).output, "again");
  const [contextId] = served.contexts;
  assertEquals(served.contexts, [contextId!, contextId!]);
  assertEquals(calls.map(({ params }) => params.message.contextId), [
    undefined,
    contextId,
  ]);
  assertEquals(agent.info.conversationId, contextId);
  assertEquals(agent.info.remote, true);
});

test("a question completes the run and the next run answers it", {
  case: "PL-F-10",
}, async () => {
  const answers = [
    [taskFrame("WORKING"), statusFrame("INPUT_REQUIRED", "Which city?")],
    [taskFrame("WORKING"), artifactFrame("Sunny"), statusFrame("COMPLETED")],
    [taskFrame("COMPLETED")],
  ];
  const { agent, calls } = remote(() => streaming(answers.shift()!));
  const question = await agent.run("weather?");
  assertEquals(
    [question.status, question.output, agent.taskState],
    ["completed", "Which city?", "TASK_STATE_INPUT_REQUIRED"],
  );
  assertEquals((await agent.run("Lisbon")).output, "Sunny");
  await agent.run("thanks");
  const sent = calls.map(({ params: { message } }) => [
    message.taskId,
    message.referenceTaskIds,
  ]);
  assertEquals(sent, [
    [undefined, undefined],
    ["t1", undefined],
    [undefined, ["t1"]],
  ]);
});

test("what was streamed is not repeated by a whole task", async () => {
  const whole = taskFrame("COMPLETED", {
    artifacts: [
      { artifactId: "a1", parts: [{ text: "one two" }] },
      { artifactId: "a2", parts: [{ text: "three" }, { data: { n: 3 } }] },
    ],
  });
  const { agent } = remote(() =>
    streaming([
      taskFrame("SUBMITTED"),
      statusFrame("WORKING", "let me see"),
      statusFrame("WORKING", "let me see"),
      artifactFrame("one "),
      artifactFrame("two", true),
      whole,
    ])
  );
  const seen: unknown[] = [];
  const stream = agent.stream("t");
  for await (const event of stream) {
    if ("delta" in event) seen.push([event.kind, event.delta]);
  }
  assertEquals(seen, [
    ["assistant_thinking_delta", "let me see"],
    ["assistant_text_delta", "one "],
    ["assistant_text_delta", "two"],
    ["assistant_text_delta", "\nthree"],
  ]);
  assertEquals((await stream.finalResult()).output, "one two\nthree");
});

test("an artifact that is replaced ends as its last form", async () => {
  const { agent } = remote(() =>
    streaming([
      taskFrame("WORKING"),
      artifactFrame("draft"),
      artifactFrame("final"),
      statusFrame("COMPLETED"),
    ])
  );
  assertEquals((await agent.run("t")).output, "final");
});

test("each end of a task has its status", async () => {
  const endings = [
    [
      [{ message: agentMessage("hi") }],
      "completed",
      "text_response",
      "hi",
      null,
    ],
    [
      [taskFrame("AUTH_REQUIRED", { message: agentMessage("log in") })],
      "completed",
      "text_response",
      "log in",
      null,
    ],
    [
      [taskFrame("FAILED", { message: agentMessage("broke") })],
      "failed",
      "runtime_error",
      null,
      "broke",
    ],
    [
      [taskFrame("REJECTED", { message: agentMessage("no") })],
      "rejected",
      "tool_rejected",
      "no",
      null,
    ],
    [
      [taskFrame("CANCELED")],
      "cancelled",
      "external_abort",
      null,
      "The agent cancelled the task",
    ],
    [
      [taskFrame("COMPLETED")],
      "failed",
      "empty_response",
      null,
      "The agent finished without a text",
    ],
  ] as const;
  for (const [frames, status, stopReason, output, error] of endings) {
    const { agent } = remote(() => streaming(frames));
    const result = await agent.run("t");
    assertEquals(
      [result.status, result.stopReason, result.output, result.error],
      [status, stopReason, output, error],
    );
  }
});

test("a card tells where and how to ask", async () => {
  const card = {
    name: "Far",
    description: "Knows.",
    version: "1",
    supportedInterfaces: [
      { url: "/grpc", protocolBinding: "GRPC", protocolVersion: "1.0" },
      { url: "/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    ],
    capabilities: { streaming: false },
  };
  const urls: string[] = [];
  const { agent, calls } = remote((request) => {
    urls.push(request.url);
    if (request.method === "GET") return Response.json(card);
    return Response.json({
      jsonrpc: "2.0",
      id: 1,
      result: { message: agentMessage("hi") },
    });
  }, {
    url: undefined!,
    cardUrl: "http://far.example/.well-known/agent-card.json",
  });
  assertEquals((await agent.run("t")).output, "hi");
  await agent.run("u");
  assertEquals(urls, [
    "http://far.example/.well-known/agent-card.json",
    "http://far.example/rpc",
    "http://far.example/rpc",
  ]);
  assertEquals(calls[0]?.method, "SendMessage");
  assertEquals([agent.info.name, agent.info.description], ["Far", "Knows."]);
});

test("a card without a way to ask is a failed run", async () => {
  const { agent } = remote(() => Response.json({ name: "x" }), {
    url: undefined!,
    cardUrl: "http://far.example/card",
  });
  const result = await agent.run("t");
  assertEquals(
    result.error,
    "The agent answered against the protocol: supportedInterfaces must be a list",
  );
});

test("failures of the network and the protocol are failed results", {
  case: "PL-F-11",
}, async () => {
  const secret = "the secret task";
  const sse = { headers: { "content-type": "text/event-stream" } };
  const answers: readonly (readonly [() => Response, RegExp])[] = [
    [
      () =>
        Response.json({
          jsonrpc: "2.0",
          id: 1,
          error: { code: -32001, message: "Task not found" },
        }),
      /^The agent refused with -32001: Task not found$/,
    ],
    [() => new Response("busy", { status: 503 }), /HTTP status 503$/],
    [() => new Response(`not JSON: ${secret}`), /no JSON$/],
    [() => Response.json({ hello: 1 }), /no JSON-RPC$/],
    [() => new Response('data: {"jsonrpc":"2.0","resu', sse), /before it had/],
    [() => new Response("data: {\n\n", sse), /event that is no JSON$/],
    [() => streaming([{ nothing: 1 }]), /neither a task nor a message$/],
    [
      () => streaming([taskFrame("DREAMING")]),
      /state must be the state of a task$/,
    ],
    [
      () => {
        throw new TypeError(`connect http://far.example/?key=${secret}`);
      },
      /^The agent at http:\/\/far\.example could not be reached$/,
    ],
  ];
  for (const [answer, expected] of answers) {
    const { agent } = remote(answer);
    const result = await agent.run(secret);
    assertEquals(
      [result.status, result.stopReason, result.failure?.code],
      ["failed", "runtime_error", "runtime_error"],
    );
    assert(expected.test(result.error!), result.error!);
    assert(!result.error!.includes(secret), result.error!);
  }
});

test("only a failure that can pass is worth another try", async () => {
  const statusOf = async (status: number) => {
    const { agent } = remote(() => new Response("", { status }));
    return (await agent.run("t")).failure?.retryable;
  };
  assertEquals(
    [await statusOf(503), await statusOf(429), await statusOf(400)],
    [true, true, false],
  );
});

test("a stream that stops early is asked after once", async () => {
  for (
    const [state, status] of [["COMPLETED", "completed"], ["WORKING", "failed"]]
  ) {
    const { agent, calls } = remote((request) => {
      const isStream = request.headers.get("accept") === "text/event-stream";
      if (isStream) {
        return streaming([taskFrame("WORKING"), artifactFrame("x")]);
      }
      const { task } = taskFrame(state!) as { task: unknown };
      return Response.json({ jsonrpc: "2.0", id: 1, result: task });
    });
    const result = await agent.run("t");
    assertEquals([result.status, result.output], [status, "x"]);
    assertEquals(calls.map(({ method }) => method), [
      "SendStreamingMessage",
      "GetTask",
    ]);
  }
});

test("an abort cancels the body and the task, whatever comes of that", {
  case: "PL-F-12",
}, async () => {
  for (const cancelWorks of [true, false]) {
    let bodyCancelled = 0;
    const { agent, calls } = remote((request) => {
      if (request.headers.get("accept") === "text/event-stream") {
        return streaming([taskFrame("WORKING"), artifactFrame("par")], {
          open: true,
          onCancel: () => bodyCancelled += 1,
        });
      }
      if (!cancelWorks) throw new TypeError("offline");
      const { task } = taskFrame("CANCELED") as { task: unknown };
      return Response.json({ jsonrpc: "2.0", id: 1, result: task });
    });
    const controller = new AbortController();
    const stream = agent.stream("t", { signal: controller.signal });
    const kinds: string[] = [];
    for await (const event of stream) {
      kinds.push(event.kind);
      if (event.kind === "assistant_text_delta") controller.abort("enough");
    }
    const result = await stream.finalResult();
    assertEquals(
      [result.status, result.stopReason, result.error],
      ["cancelled", "external_abort", "enough"],
    );
    assertEquals(kinds.slice(-2), ["turn_completed", "agent_finished"]);
    assertEquals(bodyCancelled, 1);
    assertEquals(calls.map(({ method }) => method), [
      "SendStreamingMessage",
      "CancelTask",
    ]);
    assertEquals(calls[1]?.params, { id: "t1" });
  }
});

test(
  "a cancel request that hangs is given up",
  { case: "PL-F-12" },
  async () => {
    const clock = new ManualClock();
    const asked = deferred<AbortSignal>();
    const { agent } = remote((request) => {
      if (request.headers.get("accept") === "text/event-stream") {
        return streaming([taskFrame("WORKING"), artifactFrame("par")], {
          open: true,
        });
      }
      asked.resolve(request.signal);
      return new Promise<never>(() => {});
    }, { clock, abortGraceMs: 60_000 });
    const stream = agent.stream("t");
    for await (const event of stream) {
      if (event.kind !== "assistant_text_delta") continue;
      const closed = stream.close();
      const signal = await asked.promise;
      clock.advance(4_999);
      assertEquals(signal.aborted, false);
      clock.advance(1);
      await closed;
    }
    assertEquals((await stream.finalResult()).status, "cancelled");
  },
);

test("an abort reaches the served run", async () => {
  const gate = block();
  const served = serve([gate]);
  const { agent } = remote(served.handler);
  const controller = new AbortController();
  const run = agent.run("t", { signal: controller.signal });
  await gate.entered;
  controller.abort();
  assertEquals((await run).status, "cancelled");
  await served.agent.waitForIdle();
  assertEquals(served.agent.state.lastRunResult?.status, "cancelled");
});

test("an answer from another conversation is refused", {
  case: "PL-F-12",
}, async () => {
  const { agent } = remote(() => streaming([taskFrame("COMPLETED")]));
  agent.restoreState({ contextId: "mine", taskId: null, taskState: null });
  const result = await agent.run("t");
  assertEquals(
    [result.status, result.error],
    [
      "failed",
      "The agent answered in another conversation; start a new one with reset()",
    ],
  );
  assertEquals(agent.exportState().contextId, "mine");
});

test("an event that is too large ends the reading", {
  case: "PL-F-13",
}, async () => {
  let sent = 0;
  let cancelled = false;
  const piece = new TextEncoder().encode("data: ".padEnd(600, "x"));
  const { agent } = remote(() =>
    new Response(
      new ReadableStream({
        pull(controller) {
          sent += 1;
          controller.enqueue(piece);
        },
        cancel: () => void (cancelled = true),
      }),
      { headers: { "content-type": "text/event-stream" } },
    ), { maxEventBytes: 1_000 });
  const result = await agent.run("t");
  assertEquals(result.status, "failed");
  assert(result.error!.includes("more than 1000 bytes"), result.error!);
  assertEquals(cancelled, true);
  assert(sent < 6, `${sent} pieces were read`);
});

test("a document that is too large ends the reading", {
  case: "PL-F-13",
}, async () => {
  const { agent } = remote(() => new Response("x".repeat(2_000)), {
    maxEventBytes: 1_000,
  });
  const result = await agent.run("t");
  assert(result.error!.includes("more than 1000 bytes"), result.error!);
});

test("context messages go first, each as a part of its own", {
  case: "PL-F-18",
}, async () => {
  const { agent, calls } = remote(() => streaming([taskFrame("COMPLETED")]));
  agent.use(contextMiddleware({
    sourceId: "notes",
    beforeRun: (run) => run.extendMessages(systemMessage("a note")),
  }));
  await agent.run("the task");
  assertEquals(calls[0]?.params.message.parts, [
    { text: "a note", mediaType: "text/plain" },
    { text: "the task", mediaType: "text/plain" },
  ]);
});

test("headers are asked for each request and stay at their origin", async () => {
  const urls: string[] = [];
  const { agent, calls } = remote((request) => {
    urls.push(request.url);
    const moved = request.url === "http://far.example/";
    if (moved) return redirect(308, "/moved");
    return redirect(307, "http://evil.example/");
  }, { headers: () => ({ authorization: "Bearer k", accept: "x/y" }) });
  const result = await agent.run("t");
  assertEquals(urls, ["http://far.example/", "http://far.example/moved"]);
  assertEquals(
    result.error,
    "The agent at http://far.example redirects elsewhere; use its new address",
  );
  assertEquals(
    ["authorization", "accept", "a2a-version", "content-type"].map((name) =>
      calls[1]?.headers.get(name)
    ),
    ["Bearer k", "x/y", "1.0", "application/json"],
  );
});

test("a conversation can be carried to another object", async () => {
  const served = serve([text("one"), text("two")]);
  const { agent: first } = remote(served.handler);
  await first.run("t");
  const state = JSON.parse(JSON.stringify(first.exportState()));
  const { agent: second } = remote(served.handler);
  second.restoreState(state);
  await second.run("u");
  assertEquals(new Set(served.contexts).size, 1);
  second.reset();
  assertEquals(second.exportState(), {
    contextId: null,
    taskId: null,
    taskState: null,
  });
});

test("the conversation cannot be changed under a run", async () => {
  const gate = block();
  const { agent } = remote(serve([gate]).handler);
  const run = agent.run("t");
  await gate.entered;
  assertThrows(() => agent.reset(), AgentBusyError);
  gate.release();
  await run;
});

test("wrong options throw", () => {
  assertThrows(() => new A2AAgent({ agentId: "a" }), TypeError, "One of url");
  assertThrows(
    () => new A2AAgent({ agentId: "a", url: "/here" }),
    TypeError,
    "absolute",
  );
  assertThrows(
    () => new A2AAgent({ agentId: "a", url: "http://a/", maxEventBytes: 0 }),
    RangeError,
  );
});

test("a part that cannot be carried rejects the run before it begins", async () => {
  const { agent, calls } = remote(() => new Response());
  const file = [{ type: "file", file: { file_id: "f" } }] as const;
  await assertRejects(() => agent.run(file), TypeError, "pass its data");
  assertEquals(calls, []);
  assertEquals(
    await kindsOf(agent.stream("t")).then((kinds) => kinds[0]),
    "agent_started",
  );
});

function redirect(status: number, location: string): Response {
  return new Response(null, { status, headers: { location } });
}
