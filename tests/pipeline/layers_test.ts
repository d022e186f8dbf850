// deno-lint-ignore-file require-yield -- some of these streams have a result and no events
import {
  type AgentLayer,
  type AgentNext,
  AgentPipelineError,
  type AgentRequest,
  type AgentStream,
  RunScope,
} from "../../mod.ts";
import { composeAgentLayers } from "../../src/pipeline/layers.ts";
import {
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { completed, event } from "./foreign_agent.ts";

test("without layers the innermost stream is the stream", () => {
  const stream = core();
  const compose = composeAgentLayers([], () => stream);
  assertStrictEquals(compose(request()), stream);
});

test("a stream of next does nothing until it is read", async () => {
  const log: string[] = [];
  await run(log, async function* (next) {
    const stream = next();
    log.push("not yet");
    return yield* stream;
  });
  assertEquals(log, ["not yet", "core+", "core-"]);
});

test("a result that is none is found where it was returned", async () => {
  const bad: AgentLayer = {
    async *aroundRun() {
      return undefined as never;
    },
  };
  let seen: unknown;
  const outer: AgentLayer = {
    async *aroundRun(_request, next) {
      try {
        return yield* next();
      } catch (error) {
        seen = error;
        return completed("mended");
      }
    },
  };
  const compose = composeAgentLayers([outer, bad], () => core());
  assertEquals(await resultOf(compose(request())), completed("mended"));
  assertEquals(seen instanceof AgentPipelineError, true);
});

test("a stream that ended can be asked on and says nothing", async () => {
  await run([], async function* (next) {
    const stream = next();
    yield* stream;
    assertEquals(await stream.next(), {
      done: true,
      value: undefined as never,
    });
    return completed("outer");
  });
});

test("a stream that is left before it began was never opened", async () => {
  const log: string[] = [];
  await run(log, async function* (next) {
    const left = next();
    const step = await left.return(completed("left"));
    assertEquals(step, { done: true, value: completed("left") });
    assertEquals((await left.next()).done, true);
    const thrown = next();
    const failure = new Error("mine");
    assertStrictEquals(
      await assertRejects(() => thrown.throw(failure)),
      failure,
    );
    const disposed = next();
    await disposed[Symbol.asyncDispose]();
    assertEquals(log, []);
    return yield* next();
  });
  assertEquals(log, ["core+", "core-"]);
});

test("next may be called again as soon as its stream was left or failed", async () => {
  const log: string[] = [];
  const ways: readonly ((stream: AgentStream) => PromiseLike<unknown>)[] = [
    (stream) => stream.return(completed("left")),
    (stream) => stream[Symbol.asyncDispose](),
    (stream) => assertRejects(() => stream.throw(new Error("mine"))),
  ];
  await run(log, async function* (next) {
    for (const leave of ways) {
      const stream = next();
      await stream.next();
      await leave(stream);
    }
    return yield* next();
  });
  assertEquals(log, [
    ...ways.flatMap(() => ["core+", "core-"]),
    "core+",
    "core-",
  ]);
});

test("a layer that throws when it is called ends the layers around it", async () => {
  const failure = new Error("at once");
  const compose = composeAgentLayers([
    { aroundRun: (_request, next) => next() },
    {
      aroundRun() {
        throw failure;
      },
    },
  ], () => core());
  assertStrictEquals(
    await assertRejects(() => resultOf(compose(request()))),
    failure,
  );
});

async function* core(log: string[] = []): AgentStream {
  log.push("core+");
  try {
    yield event(1, "one");
    yield event(2, "two");
  } finally {
    log.push("core-");
  }
  return completed("core");
}

/** Runs a single layer around the core. */
async function run(
  log: string[],
  body: (next: AgentNext) => AgentStream,
): Promise<void> {
  const layer: AgentLayer = { aroundRun: (_request, next) => body(next) };
  await resultOf(composeAgentLayers([layer], () => core(log))(request()));
}

function request(): AgentRequest {
  return {
    kind: "task",
    task: "t",
    contextMessages: [],
    modelOptions: {},
    signal: new AbortController().signal,
    agent: { agentId: "a", remote: false },
    scope: new RunScope(),
  };
}

async function resultOf(stream: AgentStream): Promise<unknown> {
  for (;;) {
    const step = await stream.next();
    if (step.done) return step.value;
  }
}
