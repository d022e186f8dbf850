// deno-lint-ignore-file require-yield -- some of these streams have a result and no events
import {
  AgentCancelledError,
  AgentConfigurationError,
  AgentReentrancyError,
  AgentShutdownError,
  AgentStartupError,
  type Middleware,
  RuleBasedToolPolicy,
  RunScope,
  ToolPolicyMiddleware,
  userMessage,
} from "../../mod.ts";
import {
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { aborted } from "../agent/fixtures.ts";
import { watchedController } from "../agent/watched_signal.ts";
import { tracing } from "./fixtures.ts";
import { completed, event, ScriptedAgent } from "./foreign_agent.ts";

test("a run is a task, options and a signal on their way through the layers", async () => {
  const log: string[] = [];
  const agent = new ScriptedAgent(async function* (request) {
    const { kind, task, modelOptions, contextMessages } = request;
    log.push("execute");
    assertEquals({ kind, task, modelOptions, contextMessages }, {
      kind: "task",
      task: "t",
      modelOptions: { temperature: 0 },
      contextMessages: [userMessage("note")],
    });
    yield event(1, "he");
    return completed("hello");
  }).use(tracing("A", log), tracing("B", log));
  const deltas: unknown[] = [];
  const stream = agent.stream("t", {
    modelOptions: { temperature: 0 },
    contextMessages: [userMessage("note")],
  });
  for await (const shown of stream) deltas.push(shown);
  assertEquals(deltas, [event(1, "he")]);
  assertEquals((await stream.finalResult()).output, "hello");
  assertEquals(log, ["A>r", "B>r", "execute", "B<r", "A<r"]);
});

test("wrong tasks are refused at once", async () => {
  const agent = new ScriptedAgent(answer);
  assertThrows(() => agent.stream(" "), RangeError);
  await assertRejects(() => agent.run(7 as unknown as string), TypeError);
});

test("middleware that cannot take effect is refused", async () => {
  const agent = new ScriptedAgent(answer);
  const policy = new ToolPolicyMiddleware(new RuleBasedToolPolicy([]));
  assertThrows(
    () => agent.use(policy),
    AgentConfigurationError,
    'Middleware "ToolPolicyMiddleware" wraps no runs',
  );
  const log: string[] = [];
  agent.use(tracing("T", log, "rmt"));
  await agent.run("t");
  assertEquals(log, ["T>r", "T<r"]);
  assertThrows(
    () => agent.use(tracing("late", log)),
    AgentConfigurationError,
    "first start-up",
  );
});

test("runs happen one after the other", async () => {
  const log: string[] = [];
  const first = deferred();
  const agent = new ScriptedAgent(async function* ({ task }) {
    log.push(`+${task}`);
    if (task === "one") await first.promise;
    log.push(`-${task}`);
    return completed(String(task));
  });
  const runs = Promise.all([agent.run("one"), agent.run("two")]);
  await Promise.resolve();
  first.resolve();
  assertEquals((await runs).map(({ output }) => output), ["one", "two"]);
  assertEquals(log, ["+one", "-one", "+two", "-two"]);
});

test("a run can be given up while it waits, and by its signal", async () => {
  const entered = deferred();
  const agent = new ScriptedAgent(async function* ({ signal }) {
    entered.resolve();
    return await aborted(signal);
  });
  const controller = new AbortController();
  const running = agent.run("one", { signal: controller.signal });
  await entered.promise;
  const waiting = new AbortController();
  const queued = agent.run("two", { signal: waiting.signal });
  waiting.abort("changed my mind");
  await assertRejects(() => queued, AgentCancelledError, "changed my mind");
  controller.abort("enough");
  const { stopReason, error } = await running;
  assertEquals({ stopReason, error }, {
    stopReason: "external_abort",
    error: "enough",
  });
});

test("an early reader's leave closes the work", async () => {
  const log: string[] = [];
  const agent = new ScriptedAgent(async function* ({ signal }) {
    try {
      yield event(1, "he");
      await aborted(signal);
    } finally {
      log.push("closed");
    }
    return completed("never");
  }).use(tracing("A", log));
  const stream = agent.stream("t");
  for await (const _ of stream) break;
  assertEquals(log, ["A>r", "closed", "A<r"]);
  const { status, error } = await stream.finalResult();
  assertEquals([status, error], ["cancelled", "stream closed by consumer"]);
});

test("a layer that closes the inner stream ends the work", async () => {
  const log: string[] = [];
  const agent = new ScriptedAgent(async function* () {
    try {
      yield event(1, "he");
      yield event(2, "llo");
    } finally {
      log.push("closed");
    }
    return completed("never");
  }).use({
    async *aroundRun(request, next) {
      for await (const first of next(request)) {
        yield first;
        break;
      }
      return completed("short");
    },
  });
  assertEquals((await agent.run("t")).output, "short");
  assertEquals(log, ["closed"]);
});

test("work that ignores its abort is given up after the grace", async () => {
  const entered = deferred();
  const agent = new ScriptedAgent(async function* () {
    entered.resolve();
    await new Promise(() => {});
    return completed("never");
  });
  const controller = new AbortController();
  const running = agent.run("t", { signal: controller.signal });
  await entered.promise;
  controller.abort("stop");
  await agent.clock.advanceAsync(1000);
  const { status, error } = await running;
  assertEquals([status, error], ["cancelled", "stop"]);
});

test("what a run throws rejects it and leaves the agent usable", async () => {
  const failure = new Error("no line");
  let runs = 0;
  const agent = new ScriptedAgent(async function* () {
    runs += 1;
    if (runs === 1) throw failure;
    return completed("ok");
  });
  assertStrictEquals(await assertRejects(() => agent.run("t")), failure);
  assertEquals((await agent.run("t")).output, "ok");
});

test("a narrower signal of a layer makes a cancelled result", async () => {
  const entered = deferred();
  const narrow = new AbortController();
  const agent = new ScriptedAgent(async function* ({ signal }) {
    entered.resolve();
    return await aborted(signal);
  }).use({
    aroundRun: (request, next) => next({ ...request, signal: narrow.signal }),
  });
  const running = agent.run("t");
  await entered.promise;
  narrow.abort(new Error("too long"));
  const { status, error } = await running;
  assertEquals([status, error], ["cancelled", "too long"]);
});

test("nothing is asked under a signal that is aborted already", async () => {
  let asked = 0;
  const agent = new ScriptedAgent(async function* () {
    asked += 1;
    return completed("never");
  }).use({
    aroundRun: (request, next) =>
      next({ ...request, signal: AbortSignal.abort("narrow") }),
  });
  assertEquals((await agent.run("t")).status, "cancelled");
  await assertRejects(
    () => agent.run("t", { signal: AbortSignal.abort("before") }),
    AgentCancelledError,
    "before",
  );
  assertEquals(asked, 0);
});

test("the scope and the signal of the caller are used and let go", async () => {
  const caller = watchedController();
  const scope = new RunScope();
  scope.set("tenant", 7);
  const seen: unknown[] = [];
  const agent = new ScriptedAgent(async function* (request) {
    seen.push(request.scope.get("tenant"), caller.listenerCount);
    request.scope.set("tenant", 8);
    return completed("ok");
  });
  await agent.run("t", { scope, signal: caller.signal });
  assertEquals(seen, [7, 1]);
  assertEquals([caller.listenerCount, scope.get("tenant")], [0, 7]);
});

test("an agent that is asked from inside its own run refuses", async () => {
  const agent: ScriptedAgent = new ScriptedAgent(async function* ({ scope }) {
    await agent.run("again", { scope });
    return completed("never");
  });
  await assertRejects(
    () => agent.run("t"),
    AgentReentrancyError,
    'Agent "scripted"',
  );
});

test("middleware is started once, told of runs, and stopped in reverse", async () => {
  const log: string[] = [];
  const agent = new ScriptedAgent(answer).use(
    living("A", log),
    living("B", log),
    { ...living("off", log), enabled: false },
  );
  await agent.startup();
  await agent.run("one");
  await agent.run("two");
  await agent.shutdown();
  await agent.run("three");
  assertEquals(
    log.join(" "),
    "A+ B+ A! B! A! B! B- A- A+ B+ A! B!",
  );
});

test("a start-up that fails is rolled back", async () => {
  const log: string[] = [];
  const agent = new ScriptedAgent(answer).use(living("A", log), {
    ...living("B", log),
    startup: () => Promise.reject(new Error("no port")),
  });
  const error = await assertRejects(() => agent.run("t"), AgentStartupError);
  assertEquals((error.cause as Error).message, "no port");
  assertEquals(log, ["A+", "A-"]);
});

test("a shutdown names everything that failed", async () => {
  const failure = new Error("stuck");
  const agent = new ScriptedAgent(answer).use({
    ...living("A", []),
    shutdown: () => Promise.reject(failure),
  });
  await agent.run("t");
  const error = await assertRejects(() => agent.shutdown(), AgentShutdownError);
  assertEquals(error.errors, [failure]);
});

test("a middleware that refuses a run makes it fail", async () => {
  const failure = new Error("closed today");
  const agent = new ScriptedAgent(answer).use({
    ...living("A", []),
    onTaskStart: () => Promise.reject(failure),
  });
  const result = await agent.run("t");
  assertEquals([result.stopReason, result.error], [
    "runtime_error",
    "closed today",
  ]);
  assertStrictEquals(result.failure?.cause, failure);
});

async function* answer() {
  return completed("ok");
}

function living(name: string, log: string[]): Middleware {
  return {
    name,
    aroundRun: (request, next) => next(request),
    startup: () => void log.push(`${name}+`),
    shutdown: () => void log.push(`${name}-`),
    onTaskStart: () => void log.push(`${name}!`),
  };
}
