import { Agent, type AgentRunResult, defineTool } from "../../mod.ts";
import { ChatModelAdapter } from "../../src/chat/adapter.ts";
import { fetchTransport } from "../../src/chat/transport.ts";
import type { FetchHandler, HttpServer } from "../../src/http/server.ts";
import { retryModel } from "../../src/middleware/retry.ts";
import {
  ModelAuthenticationError,
  ModelRateLimitError,
} from "../../src/model/errors.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import {
  type ModelServer,
  modelServer,
} from "../../src/testing/model_server.ts";
import { silentLogger } from "../../src/testing/ports.ts";
import { RecordingEventSink } from "../../src/testing/recording_sink.ts";
import type { ServerStep } from "../../src/testing/server_steps.ts";
import {
  block,
  type BlockStep,
  calls,
  deltas,
  fail,
  text,
} from "../../src/testing/steps.ts";
import { aborted } from "../agent/fixtures.ts";
import { assertWholeRuns } from "../agent/invariants.ts";
import { assertEquals } from "../support/assert.ts";
import { type Deferred, deferred } from "../support/deferred.ts";
import type { Runtime } from "../support/runtime.ts";
import { test, type TestOptions } from "../support/suite.ts";

/** Makes a provider reachable. */
type Connect = (provider: ModelServer) => Promise<{
  readonly url: string;
  readonly fetch: typeof fetch;
  close(): Promise<void>;
}>;

/** What all tests of the contract show. */
interface Promised {
  readonly case: readonly string[];
  /** How the names of its tests begin. */
  readonly what: string;
}

/** One moment of an exchange with a provider. */
interface Moment {
  readonly name: string;
  /** What the provider answers. */
  script(gate: BlockStep): readonly ServerStep[];
  /** Fulfils at the moment. */
  reached(stage: Stage): Promise<unknown>;
  readonly trace: string;
}

const CANCELLED = "AF(cancelled/external_abort)";

const moments: readonly Moment[] = [
  {
    name: "before the headers",
    script: (gate) => [gate],
    reached: ({ gate }) => gate.entered,
    trace: `AS TS1 TC1 ${CANCELLED}`,
  },
  {
    name: "between two chunks",
    script: (gate) => [deltas(["a"], gate)],
    reached: ({ gate, sink }) =>
      Promise.all([gate.entered, sink.first("assistant_text_delta")]),
    trace: `AS TS1 xD TC1 ${CANCELLED}`,
  },
  {
    name: "inside a tool",
    script: () => [calls(["work"])],
    reached: ({ waiting }) => waiting.promise,
    trace: `AS TS1 MC tS(c1) tC(c1,cancelled) TC1 ${CANCELLED}`,
  },
  {
    name: "while a retry waits",
    script: () => [fail(new ModelRateLimitError("slow down"))],
    reached: ({ waiting }) => waiting.promise,
    trace: `AS TS1 TC1 ${CANCELLED}`,
  },
];

/** Interrupts a run; returns once that has been said. */
type Interrupt = (agent: Agent, caller: AbortController) => void;

const ways: Readonly<Record<string, Interrupt>> = {
  "an abort": (agent) => {
    assertEquals(agent.abort("stop"), true);
  },
  "two aborts": (agent) => {
    assertEquals([agent.abort("stop"), agent.abort("again")], [true, false]);
  },
  "the caller's signal": (_agent, caller) => caller.abort(new Error("stop")),
};

/**
 * Registers what an abort of a run must do to its exchange with a provider:
 * nothing is left open and no rejection is left unhandled.
 */
export function abortContract(
  connect: Connect,
  promise: Promised,
  options: TestOptions = {},
): void {
  for (const moment of moments) {
    for (const [way, interrupt] of Object.entries(ways)) {
      test(`${promise.what}: ${way} ${moment.name}`, {
        ...options,
        case: promise.case,
      }, async () => {
        await onStage(connect, moment.script, async (stage) => {
          const { agent, caller, sink } = stage;
          const run = agent.run("go", { signal: caller.signal });
          await moment.reached(stage);
          interrupt(agent, caller);
          const result = await run;
          assertEquals([result.stopReason, result.error], [
            "external_abort",
            "stop",
          ]);
          assertEquals(sink.trace(), moment.trace);
        });
      });
    }
  }

  test("an abort after the end changes nothing", {
    ...options,
    case: promise.case,
  }, async () => {
    await onStage(connect, () => [text("done")], async ({ agent, caller }) => {
      const result = await agent.run("go", { signal: caller.signal });
      assertEquals(result.output, "done");
      assertEquals([agent.abort(), agent.abort("again")], [false, false]);
      caller.abort(new Error("too late"));
    });
  });

  test("a reader that leaves closes the exchange", {
    ...options,
    case: promise.case,
  }, async () => {
    await onStage(
      connect,
      (gate) => [deltas(["a"], gate)],
      async ({ agent }) => {
        for await (const event of agent.stream("go")) {
          if (event.kind === "assistant_text_delta") break;
        }
        assertEquals(agent.state.lastRunResult?.stopReason, "external_abort");
      },
    );
  });

  test("a refusal and a failure inside the stream leave nothing open", {
    ...options,
    case: promise.case,
  }, async () => {
    const failures: readonly ServerStep[] = [
      fail(new ModelAuthenticationError("no")),
      deltas(["a"], fail(new Error("no more"))),
    ];
    for (const step of failures) {
      let result: AgentRunResult | undefined;
      await onStage(connect, () => [step], async ({ agent }) => {
        result = await agent.run("go");
      });
      assertEquals(result?.failure?.phase, "model");
    }
  });
}

/** Serves a provider with `serve` of a runtime. */
export function httpAbortContract(
  runtime: Runtime,
  serve: (handler: FetchHandler) => Promise<HttpServer>,
  promise: Promised,
): void {
  abortContract(
    async (provider) => {
      const server = await serve(provider.fetch);
      return {
        url: server.url,
        fetch: (input, init) => fetch(input, init),
        close: () => server.close(),
      };
    },
    promise,
    { runtimes: [runtime] },
  );
}

interface Stage {
  readonly agent: Agent;
  readonly caller: AbortController;
  readonly sink: RecordingEventSink;
  /** Holds an answer back for ever. */
  readonly gate: BlockStep;
  /** Settled by the tool, and by a retry that begins to wait. */
  readonly waiting: Deferred<void>;
}

async function onStage(
  connect: Connect,
  script: Moment["script"],
  play: (stage: Stage) => Promise<void>,
): Promise<void> {
  const gate = block();
  const waiting = deferred();
  const provider = modelServer(script(gate));
  const { url, fetch, close } = await connect(provider);
  const clock = new ManualClock();
  const sink = new RecordingEventSink();
  const agent = new Agent({
    agentId: "a",
    logger: silentLogger,
    model: new ChatModelAdapter(
      { model: "m", apiKey: "none", baseUrl: `${url}/v1` },
      { transport: fetchTransport({ fetch }), clock },
    ),
    middleware: [retryModel({ clock, onRetry: () => waiting.resolve() })],
    tools: [defineTool({
      name: "work",
      execute(_args: Record<string, unknown>, { signal }) {
        waiting.resolve();
        return aborted(signal);
      },
    })],
    eventSink: sink,
  });
  const caller = new AbortController();
  try {
    await play({ agent, caller, sink, gate, waiting });
    await agent.waitForIdle();
    assertWholeRuns(sink.events);
  } finally {
    await allClosed(provider, clock);
    await agent.shutdown();
    await close();
  }
}

/** Waits until both sides have left every exchange; over a network that takes a moment. */
async function allClosed(
  provider: ModelServer,
  clock: ManualClock,
): Promise<void> {
  while (provider.openCount > 0 || clock.pending > 0) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
