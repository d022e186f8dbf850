import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import { ChatModelAdapter } from "../../src/chat/adapter.ts";
import type { FetchHandler, HttpServer } from "../../src/http/server.ts";
import type { AgentRunResult } from "../../src/messages/result.ts";
import type { ModelAdapter } from "../../src/model/adapter.ts";
import { OpenAIModelAdapter } from "../../src/openai/adapter.ts";
import {
  type ModelServer,
  modelServer,
  type ModelServerOptions,
} from "../../src/testing/model_server.ts";
import { silentLogger } from "../../src/testing/ports.ts";
import { RecordingEventSink } from "../../src/testing/recording_sink.ts";
import type { Script } from "../../src/testing/script.ts";
import {
  deliver,
  respond,
  type ServerStep,
} from "../../src/testing/server_steps.ts";
import {
  block,
  calls,
  deltas,
  text,
  thinking,
} from "../../src/testing/steps.ts";
import { defineTool } from "../../src/tools/define_tool.ts";
import { assertEquals, assertStringIncludes } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import type { Runtime } from "../support/runtime.ts";
import { test } from "../support/suite.ts";

type Serve = (handler: FetchHandler) => Promise<HttpServer>;

const adapters = { ChatModelAdapter, OpenAIModelAdapter };

/** What a test over HTTP works with; all of it is closed for it. */
interface Stage {
  readonly provider: ModelServer;
  readonly model: ModelAdapter;
  readonly sink: RecordingEventSink;
  readonly agent: Agent;
}

interface StageOptions {
  readonly agent?: Partial<AgentOptions>;
  readonly server?: ModelServerOptions;
}

/** Registers runs of whole agents against a model server that listens. */
export function httpRunContract(runtime: Runtime, serve: Serve): void {
  for (const [name, Adapter] of Object.entries(adapters)) {
    const onStage = async (
      script: Script<ServerStep>,
      play: (stage: Stage) => Promise<void>,
      options: StageOptions = {},
    ) => {
      const provider = modelServer(script, options.server);
      const server = await serve(provider.fetch);
      const model = new Adapter({
        model: "m",
        apiKey: "key",
        baseUrl: `${server.url}/v1`,
      }, { logger: silentLogger });
      const sink = new RecordingEventSink();
      const agent = new Agent({
        agentId: "a",
        model,
        eventSink: sink,
        ...options.agent,
      });
      try {
        await play({ provider, model, sink, agent });
        assertEquals(provider.refusals, []);
        provider.assertDone();
      } finally {
        await agent.shutdown();
        await server.close();
      }
    };
    const here = { runtimes: [runtime] };

    test(
      `${name}: a run thinks, calls a tool, answers and counts`,
      here,
      async () => {
        const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4 };
        await onStage([
          deltas(
            [thinking("hm")],
            calls([{ name: "echo", arguments: { say: "grüß 😀" } }], { usage }),
          ),
          deltas(["Hel", "lo"], text("Hello", { usage })),
          text("Still here", { usage }),
        ], async ({ agent, sink, provider }) => {
          const result = await agent.run("Go");
          assertEquals(
            sink.trace(),
            "AS TS1 hD MC tS(c1) tP(c1) tC(c1) TC1 TS2 xD xD MC TC2 " +
              "AF(completed/text_response)",
          );
          assertEquals(result.output, "Hello");
          assertEquals(result.usage.complete, true);
          assertEquals(
            [result.usage.inputTokens, result.usage.outputTokens],
            [20, 10],
          );
          assertEquals(result.usage.cacheReadTokens, 8);

          assertEquals(await agent.runText("And now?"), "Still here");
          assertEquals(
            provider.requests[2]?.messages.slice(-5) as unknown,
            [
              { role: "user", content: "Go" },
              {
                role: "assistant",
                content: null,
                tool_calls: [{
                  id: "c1",
                  type: "function",
                  function: { name: "echo", arguments: '{"say":"grüß 😀"}' },
                }],
              },
              { role: "tool", tool_call_id: "c1", content: "grüß 😀" },
              { role: "assistant", content: "Hello" },
              { role: "user", content: "And now?" },
            ],
          );
          assertEquals(
            provider.headers[0]?.get("authorization"),
            "Bearer key",
          );
        }, { agent: { tools: [echo] } });
      },
    );

    test(`${name}: a failed request is not repeated behind the agent's back`, {
      ...here,
      case: "X-177",
    }, async () => {
      await onStage([
        respond(500, { body: { error: { message: "Broken" } } }),
        respond(429, {
          body: { error: { message: "Slow down" } },
          headers: { "retry-after": "2" },
        }),
      ], async ({ agent, provider }) => {
        assertEquals(failureOf(await agent.run("Go")), {
          phase: "model",
          code: "provider_error",
          retryable: true,
        });
        assertEquals(provider.requests.length, 1);
        assertEquals(failureOf(await agent.run("Go")), {
          phase: "model",
          code: "rate_limit",
          retryable: true,
        });
        assertEquals(provider.requests.length, 2);
      });
    });

    test(`${name}: the word for why an answer stopped decides what runs`, {
      ...here,
      case: "X-184",
    }, async () => {
      let echoed = 0;
      const tool = defineTool({ name: "echo", execute: () => ++echoed });
      await onStage([
        text("Cut o", { finishReason: "length" }),
        text(null, { finishReason: "content_filter" }),
        calls(["echo"], { finishReason: "length" }),
        text("fine"),
        calls(["echo"], { finishReason: "stop" }),
        text("fine"),
        text(null, { finishReason: "tool_calls" }),
      ], async ({ agent, sink }) => {
        const cut = await agent.run("Go");
        assertEquals([cut.status, cut.output], ["completed", "Cut o"]);
        assertEquals(
          sink.ofKind("message_completed")[0]?.finishReason,
          "length",
        );

        const filtered = await agent.run("Go");
        assertEquals(filtered.stopReason, "empty_response");
        assertStringIncludes(filtered.error ?? "", "content_filter");

        assertEquals(await agent.runText("Go"), "fine");
        assertEquals(echoed, 0, "no call of an answer that was cut off");
        const { result } = sink.ofKind("tool_completed")[0]!;
        assertStringIncludes(result.error ?? "", "cut off");

        assertEquals(await agent.runText("Go"), "fine");
        assertEquals(echoed, 1);

        assertEquals((await agent.run("Go")).stopReason, "empty_response");
      }, { agent: { tools: [tool] } });
    });

    test(`${name}: an answer that ends without a reason is none`, {
      ...here,
      case: "X-173",
    }, async () => {
      await onStage([
        deliver(text("Hello"), { cutAfterEvents: 2, cut: "end" }),
      ], async ({ agent, sink }) => {
        const result = await agent.run("Go");
        assertEquals(
          sink.trace(),
          "AS TS1 xD TC1 AF(failed/runtime_error)",
        );
        assertStringIncludes(result.error ?? "", "finish reason");
      });
    });

    test(
      `${name}: a connection that breaks and a page instead of an answer are errors`,
      here,
      async () => {
        await onStage([
          deliver(text("Hello"), { cutAfterEvents: 2 }),
          respond(502, {
            body: "<html>Bad gateway</html>",
            headers: { "content-type": "text/html" },
          }),
        ], async ({ agent }) => {
          for (let run = 0; run < 2; run += 1) {
            assertEquals(failureOf(await agent.run("Go")), {
              phase: "model",
              code: "provider_error",
              retryable: true,
            });
          }
        });
      },
    );

    test(
      `${name}: an abort ends the request at the provider too`,
      here,
      async () => {
        const gone = deferred();
        const gate = block();
        await onStage([({ signal }) => {
          signal.addEventListener("abort", () => gone.resolve());
          return deltas(["Hel"], gate);
        }], async ({ agent, sink, provider }) => {
          const run = agent.run("Go");
          await sink.first("assistant_text_delta");
          await gate.entered;
          assertEquals(provider.openCount, 1);
          assertEquals(agent.abort("enough"), true);
          const result = await run;
          assertEquals([result.status, result.error], ["cancelled", "enough"]);
          await gone.promise;
        });
      },
    );

    test(
      `${name}: agents at work at the same time share an adapter`,
      here,
      async () => {
        const textOf = ({ content }: { content: unknown }) => String(content);
        await onStage(({ messages }) => {
          const said = messages.filter(({ role }) => role === "user").map(
            textOf,
          );
          return deltas([`${said.length}:`, said.join("+")]);
        }, async ({ model }) => {
          const ids = Array.from({ length: 8 }, (_, index) => `agent-${index}`);
          const agents = ids.map((agentId) => new Agent({ agentId, model }));
          await Promise.all(agents.map(async (agent) => {
            const id = agent.agentId;
            assertEquals(await agent.runText(`${id}-é`), `1:${id}-é`);
            assertEquals(await agent.runText("x"), `2:${id}-é+x`);
            assertEquals(await agent.runText("y"), `3:${id}-é+x+y`);
          }));
          await agents[0]!.shutdown();
        }, { server: { delivery: { chunkBytes: 7 } } });
      },
    );
  }
}

const echo = defineTool({
  name: "echo",
  description: "Repeats a text.",
  parameters: {
    type: "object",
    properties: { say: { type: "string" } },
    required: ["say"],
  },
  async execute({ say }, { progress }) {
    await progress.report("half");
    return say;
  },
});

function failureOf({ failure }: AgentRunResult): object | null {
  if (failure === null) return null;
  const { phase, code, retryable } = failure;
  return { phase, code, retryable };
}
