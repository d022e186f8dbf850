import { AgentCancelledError } from "../../src/base/abort.ts";
import { randomIds } from "../../src/base/ports.ts";
import { SessionLockTimeoutError } from "../../src/session/errors.ts";
import {
  type FileLock,
  processLocks,
  withFileLock,
} from "../../src/session/file_lock.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { FakeLocks } from "./fake_files.ts";

interface Attempt {
  readonly path?: string;
  readonly timeoutMs?: number | null;
  readonly signal?: AbortSignal;
}

function contest() {
  const clock = new ManualClock();
  const locks = new FakeLocks();
  const run = async <T>(
    work: () => T | Promise<T>,
    { path = "/a.lock", timeoutMs = 1000, signal }: Attempt = {},
  ) =>
    await withFileLock(
      locks.open(path),
      { path, timeoutMs, signal, clock, ids: randomIds },
      work,
    );
  return { clock, locks, run };
}

test("a free lock is held during the work and given back, without a timer", async () => {
  const { clock, locks, run } = contest();
  const result = await run(() => [...locks.held, clock.pending]);
  assertEquals(result, ["/a.lock", 0]);
  assertEquals(locks.held, []);
});

test("work that fails gives the lock back", async () => {
  const { locks, run } = contest();
  await assertRejects(
    () => run(() => Promise.reject(new Error("no"))),
    Error,
    "no",
  );
  assertEquals(locks.held, []);
  assertEquals(await run(() => "next"), "next");
});

test("writers of one process go in order and only the first one polls", async () => {
  const { clock, locks, run } = contest();
  locks.foreign.add("/a.lock");
  const order: number[] = [];
  const runs = [1, 2, 3].map((n) => run(() => order.push(n)));
  await clock.advanceAsync(100);
  const polls = locks.attempts.length;
  assert(polls >= 7 && polls <= 21, `${polls} polls in 100 ms`);
  locks.foreign.clear();
  await clock.advanceAsync(15);
  await Promise.all(runs);
  assertEquals(order, [1, 2, 3]);
  assertEquals(locks.attempts.length, polls + 3);
});

test("a late comer does not overtake those who wait", async () => {
  const { run } = contest();
  const order: string[] = [];
  const inside = deferred();
  const first = run(async () => {
    await inside.promise;
    order.push("first");
  });
  const second = run(() => order.push("second"));
  inside.resolve();
  await first;
  const third = run(() => order.push("third"));
  await Promise.all([second, third]);
  assertEquals(order, ["first", "second", "third"]);
});

test("a lock that stays taken ends the wait with a typed error at its limit", {
  case: "SE-K-04",
}, async () => {
  const { clock, locks, run } = contest();
  locks.foreign.add("/a.lock");
  let started = false;
  const waiting = assertRejects(
    () => run(() => started = true, { timeoutMs: 50 }),
    SessionLockTimeoutError,
    "/a.lock",
  );
  await clock.advanceAsync(49);
  assert(clock.pending > 0);
  await clock.advanceAsync(1);
  const error = await waiting;
  assertEquals([error.code, error.retryable, error.committed], [
    "session_lock_timeout",
    true,
    "no",
  ]);
  assertEquals([started, clock.pending], [false, 0]);
});

test("the limit counts the time in the queue of the process", async () => {
  const { clock, run } = contest();
  const inside = deferred();
  const first = run(() => inside.promise);
  const second = assertRejects(
    () => run(() => {}, { timeoutMs: 50 }),
    SessionLockTimeoutError,
  );
  await clock.advanceAsync(50);
  await second;
  inside.resolve();
  await first;
  assertEquals(await run(() => "next"), "next");
});

test("a limit of 0 tries once and none waits for ever", async () => {
  const { clock, locks, run } = contest();
  assertEquals(await run(() => "free", { timeoutMs: 0 }), "free");
  locks.foreign.add("/a.lock");
  await assertRejects(
    () => run(() => {}, { timeoutMs: 0 }),
    SessionLockTimeoutError,
  );
  assertEquals(locks.attempts.length, 2);

  const patient = run(() => "at last", { timeoutMs: null });
  await clock.advanceAsync(500);
  locks.foreign.clear();
  await clock.advanceAsync(15);
  assertEquals(await patient, "at last");
});

test(
  "an abort while waiting rejects at once, starts nothing and leaves the queue intact",
  {
    case: "SE-K-04",
  },
  async () => {
    const { clock, locks, run } = contest();
    locks.foreign.add("/a.lock");
    const poller = new AbortController();
    const queued = new AbortController();
    const order: string[] = [];
    const polling = assertRejects(
      () => run(() => order.push("polling"), { signal: poller.signal }),
      AgentCancelledError,
      "enough",
    );
    const queueing = assertRejects(
      () => run(() => order.push("queueing"), { signal: queued.signal }),
      AgentCancelledError,
      "me too",
    );
    const last = run(() => order.push("last"));
    await settle();
    queued.abort(new Error("me too"));
    await queueing;
    poller.abort(new Error("enough"));
    await polling;
    locks.foreign.clear();
    await clock.advanceAsync(15);
    await last;
    assertEquals(order, ["last"]);
    assertEquals(clock.pending, 0);
  },
);

test("an abort before the call takes no lock", async () => {
  const { locks, run } = contest();
  await assertRejects(
    () => run(() => {}, { signal: AbortSignal.abort() }),
    AgentCancelledError,
  );
  assertEquals(locks.attempts, []);
});

test("an abort after the work began is ignored", async () => {
  const { run } = contest();
  const caller = new AbortController();
  const inside = deferred<string>();
  const working = run(() => inside.promise, { signal: caller.signal });
  await settle();
  caller.abort();
  inside.resolve("done");
  assertEquals(await working, "done");
});

test("an abort that arrives while the lock is being taken gives it back unused", async () => {
  const caller = new AbortController();
  const taken = deferred<boolean>();
  const log: string[] = [];
  const lock: FileLock = {
    tryLock: () => taken.promise,
    unlock: () => void log.push("unlock"),
    close() {},
  };
  const working = assertRejects(
    async () =>
      await withFileLock(lock, {
        path: "/slow.lock",
        timeoutMs: null,
        signal: caller.signal,
        clock: new ManualClock(),
        ids: randomIds,
      }, () => log.push("work")),
    AgentCancelledError,
  );
  await settle();
  caller.abort();
  taken.resolve(true);
  await working;
  assertEquals(log, ["unlock"]);
});

test("a lock that cannot be tried passes its error on and frees the queue", async () => {
  const { run } = contest();
  const broken: FileLock = {
    tryLock: () => Promise.reject(new Error("no locks available")),
    unlock() {},
    close() {},
  };
  await assertRejects(
    async () =>
      await withFileLock(broken, {
        path: "/a.lock",
        timeoutMs: null,
        signal: undefined,
        clock: new ManualClock(),
        ids: randomIds,
      }, () => {}),
    Error,
    "no locks available",
  );
  assertEquals(await run(() => "next"), "next");
});

test("locks of different files do not wait for each other", {
  case: "SE-K-12",
}, async () => {
  const { clock, locks, run } = contest();
  locks.foreign.add("/a.lock");
  const blocked = run(() => "a");
  assertEquals(await run(() => "b", { path: "/b.lock" }), "b");
  locks.foreign.clear();
  await clock.advanceAsync(15);
  assertEquals(await blocked, "a");
});

test("without locks between processes the queue of this one is left", async () => {
  const inside = deferred();
  const order: string[] = [];
  const run = async (work: () => void | Promise<void>) =>
    withFileLock(await processLocks.open("/p.lock"), {
      path: "/p.lock",
      timeoutMs: null,
      signal: undefined,
      clock: new ManualClock(),
      ids: randomIds,
    }, work);
  const first = run(async () => {
    await inside.promise;
    order.push("first");
  });
  const second = run(() => void order.push("second"));
  await settle();
  inside.resolve();
  await Promise.all([first, second]);
  assertEquals(order, ["first", "second"]);
});
