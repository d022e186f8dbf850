import { createHash } from "node:crypto";
import { Agent } from "../../../src/agent/agent.ts";
import { SessionHistoryProvider } from "../../../src/pipeline/session_history.ts";
import { exportJournal, importJournal } from "../../../src/session/export.ts";
import { MemorySessionStorage } from "../../../src/session/memory.ts";
import { ScriptedModel } from "../../../src/testing/scripted_model.ts";
import { s } from "../../../src/testing/session_drafts.ts";
import { text } from "../../../src/testing/steps.ts";
import { inDirectory } from "../../faults/processes.ts";
import { LongJournal } from "../../session/long_journal.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "../../support/assert.ts";
import { isLong } from "../../support/runtime.ts";
import { test } from "../../support/suite.ts";
import { type RunningWorker, startWorker } from "./workerd.ts";

// One runtime is enough to start workerd, which is where all of this happens.
const slow = { runtimes: ["deno"], timeoutMs: 180_000 } as const;

test(
  "a run in an object streams, is steered by another request, and leaves no alarm and no timer",
  slow,
  () =>
    withWorker(async (worker) => {
      const events = eventsOf(await post(worker, "a/run", { task: "Work" }));
      await until(events, "tool_started");
      const receipt = await json(post(worker, "a/steer", { content: "Stop" }));
      assertEquals([receipt.status, receipt.queueSize], ["accepted", 1]);
      assert(await json(worker.fetch("a/alarm")) !== null);
      assert(await json(worker.fetch("a/timers")) > 0);
      await (await post(worker, "a/release")).text();
      const { output, status } = await until(events, "result");
      assertEquals([status, output], ["completed", "4: Stop"]);
      assertEquals(await json(worker.fetch("a/alarm")), null);
      assertEquals(await json(worker.fetch("a/timers")), 0);

      const history = await json(worker.fetch("a/history"));
      assertEquals(contentsOf(history), [
        "Work",
        null,
        '{"count":1}',
        "Stop",
        "4: Stop",
      ]);
      const [main] = await json(worker.fetch("a/branches"));
      assertEquals(main.branchId, "main");
    }),
);

test(
  "a run in an object is aborted by another request, and followed up",
  slow,
  () =>
    withWorker(async (worker) => {
      const events = eventsOf(await post(worker, "a/run", { task: "Work" }));
      await until(events, "tool_started");
      assertEquals(await json(post(worker, "a/abort", { reason: "enough" })), {
        aborted: true,
      });
      const { status, stopReason } = await until(events, "result");
      assertEquals([status, stopReason], ["cancelled", "external_abort"]);
      assertEquals(await json(post(worker, "a/abort")), { aborted: false });

      const other = eventsOf(await post(worker, "b/run", { task: "Work" }));
      await until(other, "tool_started");
      const receipt = await json(post(worker, "b/follow-up", { task: "Next" }));
      assertEquals(receipt.status, "accepted");
      await (await post(worker, "b/release")).text();
      await until(other, "result");
      await post(worker, "b/continue").then(eventsOf).then(drain);
      const history = await json(worker.fetch("b/history"));
      assert(
        history.some(({ content }: { content: unknown }) => content === "Next"),
      );
    }),
);

test(
  "an object that was evicted between runs remembers",
  slow,
  () =>
    inDirectory(async (directory) => {
      const first = await startWorker("agent_worker.ts", directory);
      await drain(eventsOf(await post(first, "a/run", { task: "Hello" })));
      await first.stop();

      const second = await startWorker("agent_worker.ts", directory);
      try {
        const events = eventsOf(await post(second, "a/run", { task: "Again" }));
        assertEquals((await until(events, "result")).output, "3: Again");
      } finally {
        await second.stop();
      }
    }),
);

test(
  "an object whose storage is emptied while it lives begins anew",
  slow,
  () =>
    withWorker(async (worker) => {
      await drain(eventsOf(await post(worker, "a/run", { task: "Hello" })));
      await (await worker.fetch("a/empty")).text();
      assertEquals(await json(worker.fetch("a/history")), []);
      const events = eventsOf(await post(worker, "a/run", { task: "Again" }));
      assertEquals((await until(events, "result")).status, "completed");
      const journal = await (await worker.fetch("a/journal")).text();
      assertEquals(journal.trimEnd().split("\n").length, 3);
    }),
);

test(
  "an object evicted while it waits for its model asks again",
  slow,
  () =>
    withWorker(async (worker) => {
      const events = eventsOf(await post(worker, "a/run", { task: "Think" }));
      await until(events, "turn_started");
      await worker.fetch("a/evict").then((answer) => answer.text());
      await (await post(worker, "a/release")).text();
      await (await worker.fetch("a/finished")).text();
      const history = await json(worker.fetch("a/history"));
      assertEquals(contentsOf(history), ["Think", "1: Think"]);
      assertEquals(await json(worker.fetch("a/alarm")), null);
      await drain(events).catch(() => {});
    }),
);

// Only what is written finds out that nobody reads any more, and here that is a ping.
test(
  "a reader who leaves cancels the run in the object",
  { ...slow, runtimes: isLong ? ["deno"] : [] },
  () =>
    withWorker(async (worker) => {
      const reader = await post(worker, "a/run", { task: "Work" });
      const events = eventsOf(reader);
      await until(events, "tool_started");
      await events.return(undefined);
      await (await worker.fetch("a/finished")).text();
      const history = await json(worker.fetch("a/history"));
      assertEquals(JSON.parse(contentsOf(history).at(-1)!).status, "cancelled");
    }),
);

test("an object evicted in a tool goes on by itself and runs no tool twice", {
  ...slow,
  case: "B78",
}, () =>
  withWorker(async (worker) => {
    await runIntoTool(worker);
    await worker.fetch("a/evict").then((answer) => answer.text());
    await assertWentOn(worker);
  }));

test(
  "an object killed in a tool is brought back by its alarm alone",
  slow,
  () =>
    inDirectory(async (directory) => {
      const first = await startWorker("agent_worker.ts", directory);
      await runIntoTool(first);
      await first.kill();

      const second = await startWorker("agent_worker.ts", directory);
      try {
        await assertWentOn(second);
      } finally {
        await second.stop();
      }
    }),
);

test("a session moves into an object and out of it, its records unchanged", {
  ...slow,
  case: "SE-N-08",
}, () =>
  withWorker(async (worker) => {
    const here = new MemorySessionStorage();
    await agentOn(here).run("Remember me");
    const before = await bytesOf(here);
    const damaged = before.replace(/\n.*\n/, "\nno JSON\n");
    const refusal = await put(worker, "trip/journal", damaged);
    const { error } = await refusal.json();
    assertEquals(
      [refusal.status, error.code, error.line, error.recordCount],
      [400, "session_serialization", 2, 1],
    );
    assertEquals(await json(put(worker, "trip/journal", `${before}torn`)), {
      recordCount: 3,
      ignoredByteCount: 4,
    });
    await drain(eventsOf(await post(worker, "trip/run", { task: "Hello" })));
    const moved = await (await worker.fetch("trip/journal")).text();
    assert(moved.startsWith(before));

    const there = new MemorySessionStorage();
    await importJournal(there, new Response(moved).body!);
    await agentOn(there).run("And again");
    assert((await bytesOf(there)).startsWith(moved));
    assertEquals((await there.load("trip"))?.runs.length, 3);

    const again = await put(worker, "trip/journal", before);
    assertEquals(again.status, 409);
    assertStringIncludes((await again.json()).error.message, "older copy");
    const stranger = await put(worker, "other/journal", before);
    assertEquals(stranger.status, 400);
    assertStringIncludes(
      (await stranger.json()).error.message,
      'is of session "trip", not of "other"; it needs sessionId "trip"',
    );
  }));

test(
  "a journal of another agent is refused before anything of it is stored",
  slow,
  () =>
    withWorker(async (worker) => {
      const here = new MemorySessionStorage();
      await agentOn(here, "stranger").run("Remember me");
      const refusal = await put(worker, "trip/journal", await bytesOf(here));
      const { error } = await refusal.json();
      assertEquals([refusal.status, error.code], [409, "foreign_agent"]);
      assertEquals(await (await worker.fetch("trip/journal")).text(), "");
    }),
);

test(
  "what goes wrong inside is logged, and the client learns nothing of it",
  slow,
  () =>
    withWorker(async (worker) => {
      const answer = await post(worker, "broken/run", { task: "Hello" });
      assertEquals([answer.status, await answer.json()], [500, {
        error: { code: "internal", message: "The request failed" },
      }]);
      const [warning, ...others] = await json(worker.fetch("broken/warnings"));
      assertEquals(others, []);
      for (const part of ["POST run", "broken", "MODEL is not set"]) {
        assertStringIncludes(warning, part);
      }
    }),
);

test(
  "a continue with nothing to go on with is refused as a request",
  slow,
  () =>
    withWorker(async (worker) => {
      const refusal = await post(worker, "a/continue");
      const { code, reason } = (await refusal.json()).error;
      assertEquals(
        [refusal.status, code, reason],
        [409, "continue_rejected", "no_previous_run"],
      );
    }),
);

test(
  "a class that extends an object forks its session, and the branch has a history",
  slow,
  () =>
    withWorker(async (worker) => {
      assertEquals(await json(worker.fetch("a/history")), []);
      await drain(eventsOf(await post(worker, "a/run", { task: "Hello" })));
      const unknown = await worker.fetch("a/history?branch=idea");
      assertEquals(
        [unknown.status, (await unknown.json()).error.code],
        [404, "unknown_branch"],
      );
      assertEquals(await json(worker.fetch("a/fork")), "main");
      const history = await json(worker.fetch("a/history?branch=idea"));
      assertEquals(contentsOf(history), ["Hello", "1: Hello"]);
    }),
);

test(
  "fifty megabytes move into an object and out of it as streams",
  slow,
  () =>
    withWorker(async (worker) => {
      const lineCount = 800;
      const journal = { backend: new LongJournal(lineCount, 64 * 1024) };
      const body = exportJournal(journal, s);
      assertEquals(await json(put(worker, `${s}/journal`, body)), {
        recordCount: lineCount,
        ignoredByteCount: 0,
      });
      const moved = (await worker.fetch(`${s}/journal`)).body!;
      const [before, after] = await Promise.all([
        digestOf(exportJournal(journal, s)),
        digestOf(moved),
      ]);
      assertEquals(after, before);
    }),
);

test("objects are called by RPC, and requests share an adapter", {
  ...slow,
  case: "B95",
}, () =>
  withWorker(async (worker) => {
    const { output, branches } = await json(worker.fetch("a/rpc"));
    assertEquals([output, branches.length], ["1: Hello", 1]);
    const answers = await Promise.all(
      [1, 2, 3].map(async () => await (await worker.fetch("")).text()),
    );
    assertEquals(answers, Array(3).fill("From outside"));
  }));

test(
  "wrong requests to an object are refused with their reason",
  slow,
  () =>
    withWorker(async (worker) => {
      const answers = await Promise.all([
        worker.fetch("a/nothing"),
        worker.fetch("a/run", { method: "POST", body: "no JSON" }),
        post(worker, "a/run", { task: " " }),
        post(worker, "a/steer", {}),
        post(worker, "a/journal", {}),
      ]);
      const found = await Promise.all(answers.map(async (answer) => [
        answer.status,
        (await answer.json()).error.code,
      ]));
      assertEquals(found, [
        [404, "not_found"],
        ...Array(3).fill([400, "invalid_argument"]),
        [405, "method_not_allowed"],
      ]);
      assertEquals(answers.at(-1)!.headers.get("allow"), "GET, PUT");
    }),
);

/** Starts a run and waits until its tool has taken effect; nobody waits for the run. */
async function runIntoTool(worker: RunningWorker): Promise<void> {
  const events = eventsOf(await post(worker, "a/run", { task: "Work" }));
  await until(events, "tool_started");
  while (await effectsOf(worker) !== "1");
  void drain(events).catch(() => {});
}

/** Waits for the end of the run that goes on by itself. */
async function assertWentOn(worker: RunningWorker): Promise<void> {
  await (await worker.fetch("a/finished")).text();
  const history = await json(worker.fetch("a/history"));
  assertEquals(history.length, 4);
  assertEquals(JSON.parse(history[2].content).status, "interrupted");
  assertMatch(history[3].content, /^3: /);
  assertEquals(await effectsOf(worker), "1");
  assertEquals(await json(worker.fetch("a/alarm")), null);
}

async function effectsOf(worker: RunningWorker): Promise<string> {
  return await (await worker.fetch("a/effects")).text();
}

function agentOn(storage: MemorySessionStorage, agentId = "worker"): Agent {
  return new Agent({
    agentId,
    systemPrompt: "",
    model: new ScriptedModel([text("Yes")]),
    history: new SessionHistoryProvider({ storage, sessionId: "trip" }),
  });
}

async function digestOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const bytes of stream) hash.update(bytes);
  return hash.digest("hex");
}

async function bytesOf(storage: MemorySessionStorage): Promise<string> {
  return await new Response(exportJournal(storage, "trip")).text();
}

async function withWorker(
  work: (worker: RunningWorker) => Promise<void>,
): Promise<void> {
  await inDirectory(async (directory) => {
    const worker = await startWorker("agent_worker.ts", directory);
    try {
      await work(worker);
    } finally {
      await worker.stop();
    }
  });
}

async function post(
  worker: RunningWorker,
  path: string,
  body: unknown = {},
): Promise<Response> {
  return await worker.fetch(path, {
    method: "POST",
    body: JSON.stringify(body),
  });
}

async function put(
  worker: RunningWorker,
  path: string,
  body: BodyInit,
): Promise<Response> {
  return await worker.fetch(path, { method: "PUT", body });
}

// deno-lint-ignore no-explicit-any -- what the Worker answers, as the test knows it
type Json = any;

async function json(answer: Response | Promise<Response>): Promise<Json> {
  return await (await answer).json();
}

function contentsOf(history: readonly { content: string | null }[]) {
  return history.map(({ content }) => content);
}

interface Frame {
  readonly event: string;
  readonly data: Json;
}

async function* eventsOf(answer: Response): AsyncGenerator<Frame> {
  assertEquals(answer.headers.get("content-type"), "text/event-stream");
  let rest = "";
  for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + piece).split("\n\n");
    rest = frames.pop()!;
    for (const frame of frames) {
      const event = /^event: (.*)$/m.exec(frame)?.[1];
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (event !== undefined) yield { event, data: JSON.parse(data!) };
    }
  }
}

/** Reads up to an event of a kind; the rest stays to be read. */
async function until(
  events: AsyncGenerator<Frame>,
  wanted: string,
): Promise<Json> {
  for (;;) {
    const { done, value } = await events.next();
    if (done) throw new Error(`The stream ended without ${wanted}`);
    if (value.event === wanted) {
      if (wanted === "result") await events.next();
      return value.data;
    }
  }
}

async function drain(events: AsyncGenerator<Frame>): Promise<void> {
  for await (const _ of events);
}
