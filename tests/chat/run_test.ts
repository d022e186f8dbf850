import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { ModelConfigInput } from "../../src/chat/config.ts";
import type { AgentMessage } from "../../src/messages/message.ts";
import type { AgentRunResult } from "../../src/messages/result.ts";
import {
  modelServer,
  type ModelServerOptions,
} from "../../src/testing/model_server.ts";
import { silentLogger } from "../../src/testing/ports.ts";
import { RecordingEventSink } from "../../src/testing/recording_sink.ts";
import { respond, sse } from "../../src/testing/server_steps.ts";
import { text } from "../../src/testing/steps.ts";
import { defineTool } from "../../src/tools/define_tool.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { adapterKinds } from "./adapters.ts";
import { chunk } from "./bodies.ts";

const echoCall = (id: string, more: object = {}) => ({
  index: 0,
  id,
  function: { name: "echo", arguments: '{"say":"hi"}' },
  ...more,
});

for (const { kind, make } of adapterKinds) {
  const here = (words: string) => `${words}, over ${kind}`;

  test(here("a run fails when its stream lacks a finish reason"), {
    case: ["X-173", "B29"],
  }, async () => {
    const { result, trace, ran, history } = await play([
      stream(chunk({ content: "Hel", tool_calls: [echoCall("a")] })),
    ]);
    assertEquals(trace, "AS TS1 xD TC1 AF(failed/runtime_error)");
    assertEquals([ran, history.length], [0, 1]);
    assert(result.error!.includes("finish reason"), result.error!);
    assertEquals(result.failure?.code, "provider_error");
  });

  test(here("a run sends a failing request once"), {
    case: "X-177",
  }, async () => {
    const statuses = [
      [500, "provider_error", true],
      [429, "rate_limit", true],
      [401, "authentication", false],
    ] as const;
    for (const [status, code, retryable] of statuses) {
      const { result, requests } = await play([
        respond(status, { body: { error: { message: "No" } } }),
      ]);
      assertEquals(requests.length, 1);
      assertEquals(
        [result.failure?.code, result.failure?.retryable],
        [code, retryable],
      );
    }
  });

  test(here("calls run whatever the finish reason says"), {
    case: ["X-184", "B26"],
  }, async () => {
    const { result, ran } = await play([
      stream(chunk({ tool_calls: [echoCall("a")] }, "stop")),
      text("done"),
    ]);
    assertEquals([result.output, ran], ["done", 1]);
  });

  test(here("calls of an answer that was cut off do not run"), {
    case: "X-184",
  }, async () => {
    const { result, ran, history } = await play([
      stream(chunk({ tool_calls: [echoCall("a")] }, "length")),
      text("done"),
    ]);
    assertEquals([result.output, ran], ["done", 0]);
    assert(/cut off/.test(String(history[2]!.content)), "no reason was given");
  });

  test(here("a finish reason without calls asks nothing twice"), {
    case: ["X-184", "B27"],
  }, async () => {
    const { result, requests } = await play([
      stream(chunk({}, "tool_calls")),
    ]);
    assertEquals([result.stopReason, requests.length], ["empty_response", 1]);
  });

  test(here("a filtered answer is empty and says why"), {
    case: "X-184",
  }, async () => {
    const { result } = await play([stream(chunk({}, "content_filter"))]);
    assertEquals(result.stopReason, "empty_response");
    assert(result.error!.includes("content_filter"), result.error!);
  });

  test(here("thinking is no answer"), { case: "B39" }, async () => {
    const { result, history } = await play([
      stream(chunk({ reasoning_content: "hm" }), chunk({}, "stop")),
    ]);
    assertEquals([result.stopReason, result.output], ["empty_response", null]);
    assert(!JSON.stringify(history).includes("hm"));
  });

  test(here("calls that share an id are both answered"), {
    case: "B09",
  }, async () => {
    const { history, ran } = await play([
      stream(
        chunk({ tool_calls: [echoCall("same")] }),
        chunk({ tool_calls: [echoCall("same", { index: 1 })] }, "tool_calls"),
      ),
      text("done"),
    ]);
    const answered = history.flatMap((message) =>
      message.role === "tool" ? [message.tool_call_id] : []
    );
    assertEquals([ran, answered.length, answered[0]], [2, 2, "same"]);
    assertEquals(new Set(answered).size, 2);
  });

  test(here("glued arguments are never run as empty ones"), {
    case: "B17",
  }, async () => {
    const glued = { function: { name: "echo", arguments: '{"a":1}{"a":2}' } };
    const { result, ran } = await play([
      stream(chunk({ tool_calls: [echoCall("a", glued)] }, "tool_calls")),
      text("done"),
    ]);
    assertEquals([result.output, ran], ["done", 0]);
  });

  test(here("reasoning goes back during a tool turn and is kept nowhere"), {
    case: ["X-197", "B12"],
  }, async () => {
    const planning = stream(
      chunk({ reasoning_content: "plan" }),
      chunk({ tool_calls: [echoCall("a")] }, "tool_calls"),
    );
    const { result, requests, history } = await play(
      [planning, text("done")],
      { config: { baseUrl: "https://api.deepseek.com" } },
    );
    const [, second] = requests;
    assertEquals(
      (second!.messages as readonly object[]).slice(-3).map((message) =>
        "reasoning_content" in message ? message.reasoning_content : null
      ),
      [null, "plan", null],
    );
    assert(!JSON.stringify([result, history]).includes("plan"));
    const other = await play([planning, text("done")]);
    assert(!JSON.stringify(other.requests).includes("plan"));
  });

  interface Play {
    readonly result: AgentRunResult;
    readonly trace: string;
    readonly requests: readonly Record<string, unknown>[];
    readonly history: readonly AgentMessage[];
    /** How often the tool ran. */
    readonly ran: number;
  }

  interface Stage extends ModelServerOptions {
    readonly config?: Partial<ModelConfigInput>;
    readonly agent?: Partial<AgentOptions>;
  }

  /** Runs an agent with one tool against a server that plays the steps. */
  const play = async (
    steps: Parameters<typeof modelServer>[0],
    { config, agent: options }: Stage = {},
  ): Promise<Play> => {
    const server = modelServer(steps, { extraKeys: ["reasoning_content"] });
    const sink = new RecordingEventSink();
    let ran = 0;
    const echo = defineTool({
      name: "echo",
      execute: () => `${++ran}`,
    });
    const agent = new Agent({
      agentId: "a",
      model: make({
        fetch: server.fetch,
        ...(config !== undefined && { config }),
      }),
      tools: [echo],
      eventSink: sink,
      logger: silentLogger,
      ...options,
    });
    const result = await agent.run("go");
    await agent.shutdown();
    assertEquals(server.refusals, []);
    return {
      result,
      trace: sink.trace(),
      requests: server.requests as unknown as Record<string, unknown>[],
      history: agent.messages.filter(({ role }) => role !== "system"),
      ran,
    };
  };
}

function stream(...chunks: readonly unknown[]) {
  return sse([...chunks as { readonly choices: never }[], "[DONE]"]);
}
