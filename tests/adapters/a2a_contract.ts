import { Agent } from "../../mod.ts";
import { A2AAgent, createA2AHandler } from "../../src/a2a/mod.ts";
import type { FetchHandler, HttpServer } from "../../src/http/server.ts";
import {
  block,
  deltas,
  RecordingEventSink,
  ScriptedModel,
  type ScriptStep,
  silentLogger,
  text,
} from "../../src/testing/mod.ts";
import { rpc, saying } from "../a2a/fixtures.ts";
import { assertEquals } from "../support/assert.ts";
import type { Runtime } from "../support/runtime.ts";
import { test } from "../support/suite.ts";

type Serve = (handler: FetchHandler) => Promise<HttpServer>;

/** A served agent and the address that it is served at. */
interface Stage {
  readonly url: string;
  readonly agent: Agent;
  readonly sink: RecordingEventSink;
}

/** Registers what A2A must do over real connections of a runtime. */
export function a2aContract(runtime: Runtime, serve: Serve): void {
  const onStage = async (
    script: readonly ScriptStep[],
    play: (stage: Stage) => Promise<void>,
  ) => {
    const sink = new RecordingEventSink();
    const agent = new Agent({
      agentId: "served",
      model: new ScriptedModel(script),
      eventSink: sink,
      logger: silentLogger,
    });
    const server = await serve(createA2AHandler({
      card: { name: "Served", description: "Answers.", version: "1" },
      agentFor: () => agent,
      logger: silentLogger,
    }));
    try {
      await play({ url: server.url, agent, sink });
    } finally {
      await server.close();
    }
  };
  const options = { runtimes: [runtime] };

  test(
    "an agent is found by its card and asked over HTTP",
    options,
    () =>
      onStage([deltas(["he", "llo"]), text("again")], async ({ url }) => {
        const remote = new A2AAgent({
          agentId: "remote",
          cardUrl: `${url}/.well-known/agent-card.json`,
        });
        const seen: string[] = [];
        for await (const event of remote.stream("t")) {
          if (event.kind === "assistant_text_delta") seen.push(event.delta);
        }
        assertEquals(seen, ["he", "llo"]);
        assertEquals((await remote.run("u")).output, "again");
        assertEquals(remote.info.name, "Served");
      }),
  );

  test(
    "an abort here ends the run there",
    options,
    () =>
      onStage([deltas(["par"], block())], async ({ url, sink }) => {
        const remote = new A2AAgent({ agentId: "remote", url });
        const stream = remote.stream("t");
        for await (const event of stream) {
          if (event.kind === "assistant_text_delta") break;
        }
        assertEquals((await stream.finalResult()).status, "cancelled");
        const { result } = await sink.first("agent_finished");
        assertEquals(result.stopReason, "external_abort");
      }),
  );

  test(
    "a client that hangs up ends the run",
    options,
    () =>
      onStage([deltas(["par"], block())], async ({ url, sink }) => {
        const { method, headers, body } = rpc(
          "SendStreamingMessage",
          saying("t"),
        );
        const controller = new AbortController();
        const response = await fetch(url, {
          method,
          headers,
          body: await new Response(body).text(),
          signal: controller.signal,
        });
        const reader = response.body!.getReader();
        await reader.read();
        await sink.first("assistant_text_delta");
        controller.abort();
        await reader.read().catch(() => {});
        const { result } = await sink.first("agent_finished");
        assertEquals(result.stopReason, "external_abort");
      }),
  );

  test("an agent that is not there is a failed run", options, async () => {
    const server = await serve(() => new Response());
    await server.close();
    const remote = new A2AAgent({ agentId: "remote", url: server.url });
    const result = await remote.run("t");
    assertEquals(
      [result.status, result.error, result.failure?.retryable],
      ["failed", `The agent at ${server.url} could not be reached`, true],
    );
  });
}
