/**
 * Writes to a session that others write to as well:
 *
 * `writer_program.ts race ROOT LABEL COUNT [LOCKS]`: so many messages, each on the head it has seen.
 * `writer_program.ts stream ROOT LABEL [LOCKS]`: message after message until it is killed.
 * `writer_program.ts fill ROOT LABEL`: messages of a kilobyte until one fails.
 * `writer_program.ts mend ROOT LABEL COUNT LOCKS`: so many messages, each over a torn line.
 * `writer_program.ts tear ROOT TEXT LOCKS`: takes the lock, writes the text and waits to be killed.
 */
import { appendFileSync } from "node:fs";
import { argv, pid } from "node:process";
import {
  SessionConflictError,
  SessionStorageError,
} from "../../src/session/errors.ts";
import { messageAppended, sessionId } from "./drafts.ts";
import { type LockName, locksNamed, openStorage, pathsOf } from "./platform.ts";

const [command, root, label, ...rest] = argv.slice(2) as [
  "race" | "stream" | "fill" | "mend" | "tear",
  string,
  string,
  ...string[],
];

switch (command) {
  case "race":
    await race(Number(rest[0]), rest[1] as LockName | undefined);
    break;
  case "stream":
    await stream(rest[0] as LockName | undefined);
    break;
  case "fill":
    await fill();
    break;
  case "mend":
    await mend(Number(rest[0]), rest[1] as LockName);
    break;
  case "tear":
    await tear(rest[0] as LockName);
    break;
}

async function race(count: number, lock?: LockName): Promise<void> {
  const storage = await openStorage(root, lock === undefined ? {} : { lock });
  let conflicts = 0;
  for (let done = 0; done < count;) {
    const head = await storage.head(sessionId);
    const options = { expectedHead: head?.recordId ?? null };
    try {
      await storage.append(messageAppended(`${label} ${done}`), options);
      done++;
    } catch (error) {
      if (!(error instanceof SessionConflictError)) throw error;
      conflicts++;
    }
  }
  await storage.close();
  console.log(JSON.stringify({ label, conflicts }));
}

async function stream(lock?: LockName): Promise<void> {
  const storage = await openStorage(root, lock === undefined ? {} : { lock });
  console.log(`pid ${pid}`);
  for (let done = 0;; done++) {
    const content = `${label} ${done}`;
    await storage.append(messageAppended(content));
    console.log(content);
  }
}

async function fill(): Promise<void> {
  const storage = await openStorage(root);
  for (let stored = 0;; stored++) {
    try {
      await storage.append(messageAppended(label.padEnd(1024)));
    } catch (error) {
      if (!(error instanceof SessionStorageError)) throw error;
      const { code, committed } = error;
      console.log(JSON.stringify({ code, committed, stored }));
      break;
    }
  }
  await storage.close();
}

async function mend(count: number, name: LockName): Promise<void> {
  const storage = await openStorage(root);
  const locks = await locksNamed(name);
  const paths = await pathsOf(root, sessionId);
  const lock = await locks.open(paths.lock);
  const start = '{"agent_id":"writer","branch_id":"main","created_at":"2026-';
  for (let done = 0; done < count; done++) {
    while (!await lock.tryLock());
    appendFileSync(paths.journal, start.padEnd(60 + 97 * done % 800, "x"));
    await lock.unlock();
    await storage.append(messageAppended(`${label} ${done}`));
  }
  await lock.close();
  await locks.close?.();
  await storage.close();
}

async function tear(name: LockName): Promise<void> {
  const locks = await locksNamed(name);
  const paths = await pathsOf(root, sessionId);
  const lock = await locks.open(paths.lock);
  if (!await lock.tryLock()) throw new Error("The lock is not free");
  appendFileSync(paths.journal, label);
  console.log(`pid ${pid}`);
  await new Promise(() => setInterval(() => {}, 1000)); // until it is killed
}
