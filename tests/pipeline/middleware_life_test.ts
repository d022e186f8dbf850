import {
  AgentCancelledError,
  type AgentRunResult,
  type Middleware,
} from "../../mod.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { completed, ScriptedAgent } from "./foreign_agent.ts";

function slowStarter() {
  const entered = deferred<void>();
  const started = deferred<void>();
  const seen: string[] = [];
  const slow: Middleware = {
    name: "slow",
    aroundRun: (request, next) => next(request),
    startup() {
      seen.push("startup");
      entered.resolve();
      return started.promise;
    },
    shutdown: () => void seen.push("shutdown"),
  };
  // deno-lint-ignore require-yield -- the run has a result and no events
  const agent = new ScriptedAgent(async function* () {
    return completed("ok");
  }).use(slow);

  /** Begins a run and aborts it while the middleware starts. */
  async function abortedRun(): Promise<AgentRunResult> {
    const abort = new AbortController();
    const run = agent.run("hi", { signal: abort.signal });
    await entered.promise;
    abort.abort("enough");
    await settle();
    agent.clock.advance(1000);
    return await run;
  }
  return { agent, entered, started, seen, abortedRun };
}

test("an abort ends a run whose middleware never starts", async () => {
  const { abortedRun } = slowStarter();
  const { status, error } = await abortedRun();
  assertEquals([status, error], ["cancelled", "enough"]);
});

test("the next run goes on with middleware that an aborted one left starting", async () => {
  const { agent, started, seen, abortedRun } = slowStarter();
  await abortedRun();
  const next = agent.run("hi again");
  started.resolve();
  assertEquals((await next).output, "ok");
  assertEquals(seen, ["startup"]);
});

test("a shutdown does not wait for middleware that was left starting, and undoes it", async () => {
  const { agent, started, seen, abortedRun } = slowStarter();
  await abortedRun();
  await agent.shutdown();
  assertEquals(seen, ["startup", "shutdown"]);
  const next = agent.run("hi again");
  started.resolve();
  assertEquals((await next).output, "ok");
  assertEquals(seen, ["startup", "shutdown", "shutdown", "startup"]);
});

test("a shutdown ends a start-up that never would", async () => {
  const { agent, entered, started, seen } = slowStarter();
  const startup = assertRejects(() => agent.startup(), AgentCancelledError);
  await entered.promise;
  const shutdown = agent.shutdown();
  await settle();
  agent.clock.advance(1000);
  await startup;
  await shutdown;
  assertEquals(seen, ["startup", "shutdown"]);
  started.resolve();
  await agent.startup();
  assertEquals(seen, ["startup", "shutdown", "shutdown", "startup"]);
});
