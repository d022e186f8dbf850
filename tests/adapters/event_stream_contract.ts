import { Agent } from "../../src/agent/agent.ts";
import { toEventStream } from "../../src/http/event_stream.ts";
import type { FetchHandler, HttpServer } from "../../src/http/server.ts";
import { RecordingEventSink } from "../../src/testing/recording_sink.ts";
import { ScriptedModel } from "../../src/testing/scripted_model.ts";
import {
  block,
  deltas,
  type ScriptStep,
  text,
} from "../../src/testing/steps.ts";
import { assertEquals, assertStringIncludes } from "../support/assert.ts";
import type { Runtime } from "../support/runtime.ts";
import { test } from "../support/suite.ts";

type Serve = (handler: FetchHandler) => Promise<HttpServer>;

/** Registers runs that a client watches over a connection. */
export function eventStreamContract(runtime: Runtime, serve: Serve): void {
  const runtimes = [runtime];

  test(
    "a client sees events while the run still works",
    { runtimes },
    async () => {
      const waiting = block(text("hello"));
      await watched(serve, [deltas(["he"], waiting)], async ({ reader }) => {
        const early = await readUntil(reader, '"delta":"he"');
        assertEquals(early.includes("event: result"), false);
        waiting.release();
        assertStringIncludes(
          await readUntil(reader, "\n\n", "result"),
          "hello",
        );
      });
    },
  );

  test("a client that hangs up cancels the run", { runtimes }, async () => {
    await watched(
      serve,
      [deltas(["he"], block())],
      async ({ reader, sink }) => {
        await readUntil(reader, '"delta":"he"');
        await reader.cancel();
        const { result } = await sink.first("agent_finished");
        assertEquals(result.stopReason, "external_abort");
      },
    );
  });
}

interface Watched {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly sink: RecordingEventSink;
}

async function watched(
  serve: Serve,
  script: readonly ScriptStep[],
  watch: (watched: Watched) => Promise<void>,
): Promise<void> {
  const sink = new RecordingEventSink();
  const model = new ScriptedModel(script);
  const agent = new Agent({ agentId: "a", model, eventSink: sink });
  const server = await serve(() => toEventStream(agent.stream("t")));
  try {
    const { body } = await fetch(server.url);
    const reader = body!.getReader();
    await watch({ reader, sink });
    await reader.cancel();
  } finally {
    await agent.shutdown({ abort: "the test is over" });
    await server.close();
  }
}

/** Reads until a frame of a kind, or any, holds a text. */
async function readUntil(
  reader: Watched["reader"],
  wanted: string,
  kind = "",
): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const start = text.indexOf(`event: ${kind}`);
    if (start >= 0 && text.indexOf(wanted, start) >= 0) return text;
    const { done, value } = await reader.read();
    if (done) throw new Error(`The body ended without ${wanted}: ${text}`);
    text += decoder.decode(value, { stream: true });
  }
}
