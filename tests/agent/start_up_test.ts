import {
  Agent,
  AgentCancelledError,
  type AgentMessage,
  type AgentOptions,
  assistantMessage,
  defineTool,
  type ModelAdapter,
  type ModelStreamEvent,
  proceed,
  type ToolHandler,
} from "../../mod.ts";
import {
  calls,
  ManualClock,
  RecordingLogger,
  ScriptedModel,
  text,
} from "../../src/testing/mod.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";

const graceMs = 20;

/** An agent whose model starts when it is told to, if ever. */
function slowStarter(options: Partial<AgentOptions> = {}) {
  const entered = deferred<void>();
  const started = deferred<void>();
  const clock = new ManualClock();
  const script = new ScriptedModel([text("hello"), text("again")]);
  const seen: string[] = [];
  const agent = new Agent({
    agentId: "slow",
    clock,
    logger: new RecordingLogger(),
    runtimePolicy: { abortGraceMs: graceMs },
    model: {
      startup() {
        seen.push("startup");
        entered.resolve();
        return started.promise;
      },
      shutdown() {
        seen.push("shutdown");
      },
      complete: (context, call) => script.complete(context, call),
    },
    ...options,
  });
  return { agent, clock, entered: entered.promise, started, seen };
}

/** Lets the timers of an abort happen. */
async function passGrace(clock: ManualClock): Promise<void> {
  await settle();
  clock.advance(graceMs);
}

test("an abort ends a run whose start-up never ends", async () => {
  const { agent, clock, entered } = slowStarter();
  const run = agent.run("hi");
  await entered;
  assertEquals(agent.abort("enough"), true);
  await passGrace(clock);
  const { status, stopReason } = await run;
  assertEquals([status, stopReason], ["cancelled", "external_abort"]);
  assertEquals(agent.state.status, "cancelled");
});

test("the next run goes on with the start-up that an aborted one left", async () => {
  const { agent, clock, entered, started, seen } = slowStarter();
  const first = agent.run("hi");
  await entered;
  agent.abort();
  await passGrace(clock);
  await first;
  const second = agent.run("hi again");
  started.resolve();
  assertEquals((await second).output, "hello");
  assertEquals(seen, ["startup"]);
  await agent.shutdown();
});

test("the next run starts once more after a start-up that was left and failed", async () => {
  const { agent, clock, entered, started, seen } = slowStarter();
  const first = agent.run("hi");
  await entered;
  agent.abort();
  await passGrace(clock);
  await first;
  const second = agent.run("hi again");
  started.reject(new Error("no server"));
  await second.then(() => {}, () => {});
  assertEquals(seen, ["startup", "startup"]);
});

test("a shutdown does not wait for a start-up that was left, and undoes it", async () => {
  const { agent, clock, entered, started, seen } = slowStarter();
  const run = agent.run("hi");
  await entered;
  const stopping = agent.shutdown({ abort: "over" });
  await passGrace(clock);
  assertEquals((await run).status, "cancelled");
  await stopping;
  started.resolve();
  assertEquals((await agent.run("hi")).output, "hello");
  assertEquals(seen, ["startup", "shutdown", "startup"]);
});

test("a start-up can be aborted, and what it began is there for a run", async () => {
  const { agent, clock, entered, started, seen } = slowStarter();
  const controller = new AbortController();
  const starting = agent.startup({ signal: controller.signal });
  await entered;
  assertEquals(agent.abort(), false);
  controller.abort("enough");
  const refused = assertRejects(() => starting, AgentCancelledError, "enough");
  await passGrace(clock);
  await refused;
  const run = agent.run("hi");
  started.resolve();
  assertEquals((await run).output, "hello");
  assertEquals(seen, ["startup"]);
  await agent.startup();
  await assertRejects(
    () => agent.startup({ signal: controller.signal }),
    AgentCancelledError,
  );
});

test("a start-up that waits for its turn can be given up", async () => {
  const { agent, started, entered, seen } = slowStarter();
  const run = agent.run("hi");
  await entered;
  const controller = new AbortController();
  const waiting = agent.startup({ signal: controller.signal });
  controller.abort(new Error("too late"));
  await assertRejects(() => waiting, AgentCancelledError, "too late");
  started.resolve();
  assertEquals((await run).succeeded, true);
  await agent.waitForIdle();
  assertEquals(seen, ["startup"]);
});

test("a history that comes after its start-up was aborted is not taken", async () => {
  const loading = deferred<void>();
  const loaded = deferred<readonly AgentMessage[]>();
  const { agent, clock, started } = slowStarter({
    history: {
      sourceId: "slow",
      load({ kind }) {
        if (kind !== "startup") return Promise.resolve(null);
        loading.resolve();
        return loaded.promise;
      },
    },
  });
  started.resolve();
  const controller = new AbortController();
  const starting = agent.startup({ signal: controller.signal });
  await loading.promise;
  controller.abort();
  const refused = assertRejects(() => starting, AgentCancelledError);
  await passGrace(clock);
  await refused;
  const before = agent.messages;
  loaded.resolve([{ role: "user", content: "old" }]);
  await Promise.resolve();
  await agent.waitForIdle();
  assertEquals(agent.messages, before);
  assertEquals(agent.lifecycle, "ready");
});

/** A handler that starts until it is shut down, or for as long as it likes. */
function slowHandler(seen: string[], minds: boolean): ToolHandler {
  const started = deferred<void>();
  return {
    toolDefinitions: [],
    toolNames: [],
    startup() {
      seen.push("slow up");
      return started.promise;
    },
    shutdown() {
      seen.push("slow down");
      if (minds) started.reject(new Error("closed"));
    },
    execute: () => proceed(null),
  };
}

/** A handler that notes what is done to it, for before and behind a slow one. */
function notingHandler(name: string, seen: string[]): ToolHandler {
  return {
    toolDefinitions: [],
    toolNames: [],
    startup: () => void seen.push(`${name} up`),
    shutdown: () => void seen.push(`${name} down`),
    execute: () => proceed(null),
  };
}

/** An agent whose second of three handlers is slow, and what happens to them. */
function slowTools(minds: boolean) {
  const seen: string[] = [];
  const { agent, clock, started } = slowStarter({
    tools: [
      notingHandler("first", seen),
      slowHandler(seen, minds),
      notingHandler("third", seen),
    ],
  });
  started.resolve();
  return { agent, clock, seen };
}

const ended = ["first up", "slow up", "slow down", "first down"];

test("a shutdown ends the start-up that an aborted run left", async () => {
  const { agent, clock, seen } = slowTools(true);
  const run = agent.run("hi");
  await settle();
  agent.abort();
  await passGrace(clock);
  await run;
  assertEquals(seen, ["first up", "slow up"]);
  await agent.shutdown();
  assertEquals(seen, ended);
  await agent.shutdown();
  assertEquals([seen, agent.lifecycle], [ended, "new"]);
});

test("a shutdown ends a start-up that somebody waits for", async () => {
  const { agent, seen } = slowTools(true);
  const starting = assertRejects(
    () => agent.startup(),
    AgentCancelledError,
    "A shutdown ended the start-up",
  );
  await settle();
  await agent.shutdown();
  await starting;
  assertEquals(seen, ended);
});

test("a shutdown waits no longer than the grace for a handler that goes on starting", async () => {
  const { agent, clock, seen } = slowTools(false);
  const starting = assertRejects(() => agent.startup(), AgentCancelledError);
  await settle();
  const stopping = agent.shutdown();
  await passGrace(clock);
  await starting;
  await stopping;
  assertEquals(seen, ended);
});

test("a model that starts too late for a shutdown gets no tools", async () => {
  const tools: string[] = [];
  const { agent, clock, entered, started, seen } = slowStarter({
    tools: [notingHandler("tool", tools)],
  });
  const starting = assertRejects(() => agent.startup(), AgentCancelledError);
  await entered;
  const stopping = agent.shutdown();
  await passGrace(clock);
  await starting;
  await stopping;
  started.resolve();
  await settle();
  assertEquals([seen, tools], [["startup", "shutdown"], []]);
});

test("a usage that cannot be is the model's failure, not the run's", async () => {
  const agent = new Agent({
    agentId: "counted",
    model: {
      complete: () =>
        Promise.resolve({
          message: assistantMessage("x"),
          usage: {
            inputTokens: -5,
            outputTokens: 1,
            totalTokens: -4,
            cacheReadTokens: null,
            cacheWriteTokens: null,
            reasoningTokens: null,
          },
          finishReason: null,
        }),
    },
  });
  const { status, failure } = await agent.run("hi");
  assertEquals([status, failure?.code], ["failed", "protocol_error"]);
  assertEquals(agent.state.status, "failed");
});

test("a logger that throws changes no run", async () => {
  const agent = new Agent({
    agentId: "quiet",
    model: new ScriptedModel([text("hello")]),
    logger: {
      warn() {
        throw new Error("disk full");
      },
    },
    eventSink: {
      emit() {
        throw new Error("nobody listens");
      },
    },
  });
  assertEquals((await agent.run("hi")).output, "hello");
});

test("an abort gets through a flood of deltas that never waits", async () => {
  const agent = new Agent({ agentId: "flooded", model: flood() });
  const controller = new AbortController();
  const run = agent.run("hi", { signal: controller.signal });
  setTimeout(() => controller.abort("enough"), 0);
  assertEquals((await run).stopReason, "external_abort");
});

test("an abort gets through turns that never wait", async () => {
  const model = new ScriptedModel(() => calls(["again"]));
  const agent = new Agent({
    agentId: "tireless",
    model,
    tools: [
      defineTool({ name: "again", execute: () => model.requests.length }),
    ],
    runtimePolicy: { maxSteps: 100_000, maxRepeatedToolCalls: Infinity },
  });
  const controller = new AbortController();
  const run = agent.run("hi", { signal: controller.signal });
  setTimeout(() => controller.abort("enough"), 0);
  assertEquals((await run).stopReason, "external_abort");
  assert(model.requests.length < 1000);
});

function flood(): ModelAdapter {
  return {
    complete: () => Promise.reject(new Error("only streams")),
    async *stream(): AsyncGenerator<ModelStreamEvent, void, void> {
      for (;;) yield { kind: "text_delta", delta: "x" };
    },
  };
}
