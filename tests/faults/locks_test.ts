import { readFile, writeFile } from "node:fs/promises";
import { randomIds, systemClock } from "../../src/base/ports.ts";
import { type FileLock, withFileLock } from "../../src/session/file_lock.ts";
import { assertEquals } from "../support/assert.ts";
import { runtime, runtimesWith } from "../support/runtime.ts";
import { test } from "../support/suite.ts";
import { flocksHere, type LockName, locksNamed } from "./platform.ts";
import {
  hasPython,
  inDirectory,
  type Program,
  startCommand,
  startProgram,
  startProgramOn,
} from "./processes.ts";

const hosts = runtimesWith("files", "processes");
const program = "tests/faults/lock_program.ts";
const locksHere: readonly LockName[] = runtime === "deno"
  ? flocksHere
  : [...flocksHere, "lease"];

for (const name of runtime === "workerd" ? [] : locksHere) {
  test(`two handles of ${name} locks exclude each other, and closing frees`, {
    runtimes: hosts,
  }, () =>
    inDirectory(async (directory) => {
      const locks = await locksNamed(name);
      const path = `${directory}/a b$'"\\.jsonl.lock`;
      const [one, two] = [await locks.open(path), await locks.open(path)];
      assertEquals([await one.tryLock(), await two.tryLock()], [true, false]);
      assertEquals(one.held?.() ?? true, true);
      await one.unlock();
      assertEquals([await two.tryLock(), await one.tryLock()], [true, false]);
      await two.close();
      assertEquals(await one.tryLock(), true);
      await one.close();
      await locks.close?.();
    }));

  test(`the holder of a ${name} lock is killed and the lock is free`, {
    case: "B69",
    runtimes: hosts,
  }, () =>
    inDirectory(async (directory) => {
      const path = `${directory}/s.lock`;
      const holder = startProgram(program, "hold", name, path);
      const processId = await heldBy(holder);
      const locks = await locksNamed(name);
      const lock = await locks.open(path);
      assertEquals(await lock.tryLock(), false);
      await holder.kill(processId);
      await lockSoon(lock, path);
      await lock.close();
      await locks.close?.();
    }));
}

async function heldBy(holder: Program): Promise<number> {
  const line = await holder.line();
  if (line === null) await holder.done;
  return Number(line!.replace("held ", ""));
}

/** Waits as an append would: a helper process needs a moment to notice the death of its parent. */
async function lockSoon(lock: FileLock, path: string): Promise<void> {
  const wait = { path, timeoutMs: 5000, signal: undefined };
  await withFileLock(
    lock,
    { ...wait, clock: systemClock, ids: randomIds },
    () => {},
  );
}

test("processes that count under the lock lose nothing", {
  runtimes: hosts,
  timeoutMs: 60_000,
}, () =>
  inDirectory(async (directory) => {
    const args = [`${directory}/n.lock`, `${directory}/n`, "20"];
    await writeFile(`${directory}/n`, "0");
    const programs = flocksHere.flatMap((name) =>
      [1, 2].map(() => startProgram(program, "count", name, ...args))
    );
    await Promise.all(programs.map(({ done }) => done));
    assertEquals(
      await readFile(`${directory}/n`, "utf8"),
      String(20 * programs.length),
    );
  }));

test("processes that count under leases lose nothing", {
  runtimes: ["node", "bun"],
}, () =>
  inDirectory(async (directory) => {
    const args = ["lease", `${directory}/n.lock`, `${directory}/n`, "40"];
    await writeFile(`${directory}/n`, "0");
    const programs = [1, 2, 3].map(() =>
      startProgram(program, "count", ...args)
    );
    await Promise.all(programs.map(({ done }) => done));
    assertEquals(await readFile(`${directory}/n`, "utf8"), "120");
  }));

test("Deno, Node, Bun and Python respect each other's locks", {
  runtimes: ["node"],
  timeoutMs: 60_000,
}, () =>
  inDirectory(async (directory) => {
    const args = [`${directory}/n.lock`, `${directory}/n`, "25"];
    await writeFile(`${directory}/n`, "0");
    const programs = [
      startProgramOn("deno", program, "count", "deno", ...args),
      startProgramOn("bun", program, "count", "bun", ...args),
      startProgram(program, "count", "koffi", ...args),
      startProgram(program, "count", "perl", ...args),
    ];
    if (hasPython) {
      programs.push(startCommand("python3", ["-c", pythonCounter, ...args]));
    }
    await Promise.all(programs.map(({ done }) => done));
    assertEquals(
      await readFile(`${directory}/n`, "utf8"),
      String(25 * programs.length),
    );
  }));

const pythonCounter = `
import fcntl, os, sys, time
path, number, times = sys.argv[1:]
for _ in range(int(times)):
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            time.sleep(0.01)
    value = int(open(number).read())
    time.sleep(0.0005)
    with open(number, "w") as file:
        file.write(str(value + 1))
    os.close(lock)
`;
