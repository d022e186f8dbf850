import {
  followSignal,
  throwIfAborted,
  toCancelledError,
} from "../base/abort.ts";
import { frozen } from "../base/freeze.ts";
import { Gate } from "../base/gate.ts";
import { andFinally, andThen, type Later } from "../base/later.ts";
import type { Clock, IdSource } from "../base/ports.ts";
import { SessionLockTimeoutError } from "./errors.ts";

/**
 * What keeps writers apart.
 *
 * `"flock"`: the kernel's lock, shared with every program that uses `flock(2)`
 * on the same file, Python included, and free the moment its holder dies.
 * `"lease"`: an owner file, honoured by JavaScript processes that use leases too.
 * `"process"`: nothing beyond this process.
 */
export type FileLockKind = "flock" | "lease" | "process";

/**
 * One exclusive lock on one file.
 *
 * Calls never overlap: the caller awaits each before the next. Nothing here may
 * block the event loop until somebody else lets go.
 */
export interface FileLock {
  /**
   * Takes the lock if it is free.
   *
   * @returns False while somebody else holds it. Any other obstacle rejects.
   */
  tryLock(): boolean | Promise<boolean>;
  /**
   * Says whether a lock that was taken still is; asked right before a write.
   * Left out by locks that cannot be lost.
   */
  held?(): boolean;
  /** Gives the lock back. Must not reject: a lock that is lost is given back. */
  unlock(): void | Promise<void>;
  /** Releases what the object holds open, the lock included. */
  close(): void | Promise<void>;
}

/** Opens the locks of one storage. */
export interface FileLocks {
  /** What the locks are worth. */
  readonly kind: FileLockKind;
  /**
   * Opens the lock of one file, which is created with mode 0600 if missing and
   * never deleted. Called when a session is first written.
   */
  open(path: string): FileLock | Promise<FileLock>;
  /** Releases what all locks share. Called once, after every lock was closed. */
  close?(): void | Promise<void>;
}

/**
 * Locks that keep no other process out, for directories that one process has to
 * itself. Writers of this process still take turns.
 */
export const processLocks: FileLocks = frozen({
  kind: "process",
  open: () => ({ tryLock: () => true, unlock() {}, close() {} }),
});

/** How to wait for a lock. */
export interface FileLockWait {
  /** The real path of the lock file, by which the writers of this process queue. */
  readonly path: string;
  /** Milliseconds to wait; 0 tries once, `null` waits for ever. */
  readonly timeoutMs: number | null;
  /** Gives up waiting; without effect once the lock is held. */
  readonly signal: AbortSignal | undefined;
  /** Drives the polls and the limit. */
  readonly clock: Clock;
  /** Where polls take their jitter from. */
  readonly ids: IdSource;
}

/**
 * Runs work while holding a lock that other processes respect.
 *
 * The writers of this process form one queue per path, so only the first of them
 * polls and none overtakes. The limit counts from the call, queueing included.
 *
 * @returns What the work returns.
 * @throws {SessionLockTimeoutError} If the lock stayed taken; the work was not started.
 * @throws {AgentCancelledError} If the signal aborted first; the work was not started.
 */
export function withFileLock<T>(
  lock: FileLock,
  options: FileLockWait,
  work: () => Later<T>,
): Later<T> {
  const patience = new Patience(options);
  const { path, signal } = options;
  const gate = gateOf(path);
  const leave = () => {
    gate.leave();
    if (!gate.taken) gates.delete(path);
  };
  const workWhileHeld = () => {
    throwIfAborted(signal);
    return work();
  };
  const takeTurn = () => {
    throwIfAborted(signal);
    return andThen(
      take(lock, options, patience),
      () => andFinally(workWhileHeld, () => lock.unlock()),
    );
  };
  return andFinally(
    () => andThen(queue(gate, patience), () => andFinally(takeTurn, leave)),
    () => patience.end(),
  );
}

function queue(gate: Gate, patience: Patience): Later<void> {
  return gate.taken ? waitFor(gate, patience.signal) : gate.enter();
}

async function waitFor(gate: Gate, signal: AbortSignal): Promise<void> {
  if (signal.aborted) throw signal.reason;
  try {
    await gate.enter(signal);
  } catch {
    throw signal.reason; // the gate knows cancellations only, not the limit
  }
}

function take(
  lock: FileLock,
  options: FileLockWait,
  patience: Patience,
): Later<void> {
  return andThen(
    lock.tryLock(),
    (held) => held ? undefined : poll(lock, options, patience),
  );
}

async function poll(
  lock: FileLock,
  options: FileLockWait,
  patience: Patience,
): Promise<void> {
  do await pause(options, patience.signal); while (!(await lock.tryLock()));
}

const gates = new Map<string, Gate>();

function gateOf(path: string): Gate {
  let gate = gates.get(path);
  if (gate === undefined) gates.set(path, gate = new Gate());
  return gate;
}

/** How long a writer waits; the limit and the listener cost more than a free lock, so they start with the first wait. */
class Patience {
  readonly #options: FileLockWait;
  #signal: AbortSignal | undefined;
  #unfollow = () => {};
  #stopTimer = () => {};

  constructor(options: FileLockWait) {
    this.#options = options;
  }

  /** Aborts with the error to reject with: the limit's or the caller's. */
  get signal(): AbortSignal {
    return this.#signal ??= this.#begin();
  }

  end(): void {
    this.#unfollow();
    this.#stopTimer();
  }

  #begin(): AbortSignal {
    const { path, timeoutMs, signal, clock } = this.#options;
    const controller = new AbortController();
    const expire = () =>
      controller.abort(
        new SessionLockTimeoutError(
          `The lock ${path} was not free within ${timeoutMs} ms; ` +
            "find the process that holds it or raise lockTimeoutMs",
        ),
      );
    this.#unfollow = followSignal(
      signal,
      (reason) => controller.abort(toCancelledError(reason)),
    );
    if (timeoutMs === 0) expire();
    else if (timeoutMs !== null) {
      this.#stopTimer = clock.setTimer(timeoutMs, expire);
    }
    return controller.signal;
  }
}

const pollMs = 10;

function pause(
  { clock, ids }: FileLockWait,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let unfollow = () => {};
    const stopTimer = clock.setTimer(pollMs * jitter(ids), () => {
      unfollow();
      resolve();
    });
    unfollow = followSignal(signal, (reason) => {
      stopTimer();
      reject(reason);
    });
  });
}

/** 0.5 to 1.5: processes that poll in step would starve each other. */
function jitter(ids: IdSource): number {
  let hash = 0;
  for (const character of ids.next()) {
    hash = (hash * 31 + character.charCodeAt(0)) >>> 0;
  }
  return 0.5 + hash / 2 ** 32;
}
