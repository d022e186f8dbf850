import { agentEvent, type AgentRunStream, runResult } from "../../mod.ts";
import { toEventStream } from "../../src/http/mod.ts";
import {
  block,
  deltas,
  ManualClock,
  RecordingLogger,
} from "../../src/testing/mod.ts";
import { agentWith } from "../agent/fixtures.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

interface Frame {
  readonly event: string;
  readonly id?: string;
  readonly data: unknown;
}

test("a run is shown as one frame for each event and one for the result", {
  case: "PL-F-19",
}, async () => {
  const { agent, sink } = agentWith([deltas(["he", "llo"])]);
  const stream = agent.stream("t");
  const response = toEventStream(stream, { headers: { "x-room": "7" } });
  assertEquals(
    ["content-type", "cache-control", "x-room"].map((name) =>
      response.headers.get(name)
    ),
    ["text/event-stream", "no-cache, no-transform", "7"],
  );
  const frames = framesOf(await response.text());
  assertEquals(frames.slice(0, -1), [
    ...sink.events.map((event): Frame => ({
      event: event.kind,
      id: String(event.sequence),
      data: plain(event),
    })),
  ]);
  assertEquals(frames.at(-1), {
    event: "result",
    data: plain(await stream.finalResult()),
  });
});

test("a client that leaves cancels the run", { case: "PL-F-19" }, async () => {
  const waiting = block();
  const { agent, sink } = agentWith([waiting]);
  const logger = new RecordingLogger();
  const clock = new ManualClock();
  const { body } = toEventStream(agent.stream("t"), { logger, clock });
  const reader = body!.getReader();
  await reader.read();
  await reader.read();
  const silent = reader.read();
  await waiting.entered;
  await reader.cancel();
  const { result } = await sink.first("agent_finished");
  assertEquals([result.status, result.error], ["cancelled", "the client left"]);
  assertEquals((await silent).done, true);
  assertEquals([logger.warnings.length, clock.pending], [0, 0]);
});

test("a run does not start before somebody reads", async () => {
  const { agent, sink } = agentWith([]);
  const response = toEventStream(agent.stream("t"));
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals([sink.events.length, agent.lifecycle], [0, "new"]);
  await response.body!.cancel();
  assertEquals(sink.events.length, 0);
});

test("a rejected run says nothing to the client and all to the operator", async () => {
  const logger = new RecordingLogger();
  const { agent } = agentWith([], {
    middleware: [{
      aroundRun() {
        throw new Error("secret path");
      },
    }],
  });
  const response = toEventStream(agent.stream("t"), { logger });
  assertEquals(framesOf(await response.text()), [
    { event: "error", data: { error: "The run failed" } },
  ]);
  assertEquals(logger.warnings, [
    { message: "A served run was rejected", details: { error: "secret path" } },
  ]);
});

test("silence is filled with comments", async () => {
  const clock = new ManualClock();
  const waiting = block();
  const { agent } = agentWith([waiting]);
  const body = toEventStream(agent.stream("t"), { clock, pingMs: 100 }).body!;
  const reader = body.getReader();
  const next = async () => decoder.decode((await reader.read()).value);
  while (!(await next()).includes("turn_started")) {
    // The events before the silence.
  }
  const silent = next();
  await waiting.entered;
  clock.advance(250);
  assertEquals(await silent, ": ping\n\n");
  assertEquals(await next(), ": ping\n\n");
  waiting.release();
  while (!(await next()).includes("event: result\n")) {
    // The events behind it.
  }
  assertEquals((await reader.read()).done, true);
  assertEquals(clock.pending, 0);
});

test("an event that JSON cannot express keeps its envelope", async () => {
  const envelope = { agentId: "a", runId: "r", sequence: 1, timeMs: 0 };
  const result = runResult({ stopReason: "text_response", output: "ok" });
  const stream: AgentRunStream = {
    async *[Symbol.asyncIterator]() {
      yield await Promise.resolve(agentEvent(envelope, {
        kind: "tool_progressed",
        turn: 1,
        toolCall: { id: "c1", name: "count", arguments: "{}" },
        update: { message: "far", data: 1n },
      }));
    },
    finalResult: () => Promise.resolve(result),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const [first] = framesOf(await toEventStream(stream).text());
  assertEquals(first?.data, { kind: "tool_progressed", ...envelope });
});

const decoder = new TextDecoder();

function framesOf(body: string): Frame[] {
  return body.trimEnd().split("\n\n").map((text) => {
    const fields = Object.fromEntries(
      text.split("\n").map((line) => {
        const colon = line.indexOf(": ");
        return [line.slice(0, colon), line.slice(colon + 2)];
      }),
    );
    return { ...fields, data: JSON.parse(fields.data!) } as unknown as Frame;
  });
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
