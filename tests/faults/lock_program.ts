/**
 * Counts up a number in a file, or takes a lock and keeps it:
 *
 * `lock_program.ts count LOCKS PATH NUMBER TIMES`
 * `lock_program.ts hold LOCKS PATH`
 */
import { readFileSync, writeFileSync } from "node:fs";
import { argv, pid } from "node:process";
import { randomIds, systemClock } from "../../src/base/ports.ts";
import { type FileLock, withFileLock } from "../../src/session/file_lock.ts";
import { type LockName, locksNamed } from "./platform.ts";

const [command, name, path, number, times] = argv.slice(2) as [
  "count" | "hold",
  LockName,
  string,
  string?,
  string?,
];
const locks = await locksNamed(name);
const lock = await locks.open(path);

if (command === "count") await count(lock, number!, Number(times));
else await hold(lock);
await lock.close();
await locks.close?.();

async function count(
  lock: FileLock,
  file: string,
  times: number,
): Promise<void> {
  for (let done = 0; done < times; done++) {
    await withLock(lock, async () => {
      const value = Number(readFileSync(file, "utf8"));
      await new Promise((resolve) => setTimeout(resolve, 0));
      writeFileSync(file, String(value + 1));
    });
  }
}

async function hold(lock: FileLock): Promise<void> {
  await withLock(lock, async () => {
    console.log(`held ${pid}`);
    await new Promise(() => setInterval(() => {}, 1000)); // until it is killed
  });
}

async function withLock(
  lock: FileLock,
  work: () => Promise<void>,
): Promise<void> {
  await withFileLock(lock, {
    path,
    timeoutMs: 60_000,
    signal: undefined,
    clock: systemClock,
    ids: randomIds,
  }, work);
}
