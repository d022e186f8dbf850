import * as fs from "node:fs";
import { hostname } from "node:os";
import { kill, pid } from "node:process";
import { randomIds, systemClock } from "../../src/base/ports.ts";
import type { FileLock, FileLocks } from "../../src/session/file_lock.ts";

/** A lease is held for one append, so an older one belongs to nobody any more. */
const expiryMs = 60_000;

interface Owner {
  readonly token: string;
  readonly pid: number;
  readonly host: string;
}

/**
 * Owner files, for systems without `flock`.
 *
 * They keep those JavaScript processes apart that use them all; programs that
 * use `flock` on the same journal do not see them.
 */
export function leaseLocks(): FileLocks {
  return Object.freeze({
    kind: "lease",
    // Not the name of the lock file, which others may take for what it is.
    open: (path: string) => openLease(path.replace(/\.lock$/, "") + ".lease"),
  });
}

function openLease(path: string): FileLock {
  const owner: Owner = { token: randomIds.next(), pid, host: hostname() };
  const held = () => ownerOf(path)?.token === owner.token;
  const unlock = () => {
    if (held()) fs.rmSync(path, { force: true });
  };
  return {
    tryLock() {
      if (create(path, owner)) return true;
      if (isStale(path)) removeStale(path);
      return false;
    },
    held,
    unlock,
    close: unlock,
  };
}

function create(path: string, owner: Owner): boolean {
  try {
    fs.writeFileSync(path, JSON.stringify(owner), { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** The owner of a lease; null if there is none or it is still being written. */
function ownerOf(path: string): Owner | null {
  try {
    return JSON.parse(fs.readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}

function isStale(path: string): boolean {
  const owner = ownerOf(path);
  if (owner?.host === hostname() && !isAlive(owner.pid)) return true;
  return ageMs(path) > expiryMs;
}

function isAlive(processId: number): boolean {
  try {
    kill(processId, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/** Milliseconds since a file was made; 0 if it is gone. */
function ageMs(path: string): number {
  const status = fs.statSync(path, { throwIfNoEntry: false });
  return status === undefined ? 0 : systemClock.now() - status.mtimeMs;
}

/**
 * Removes a stale lease after a second look that nobody else can have at the
 * same time: two that saw the same stale lease would otherwise remove each
 * other's new ones.
 */
function removeStale(path: string): void {
  const guard = `${path}.guard`;
  try {
    fs.mkdirSync(guard);
  } catch {
    if (ageMs(guard) > expiryMs) {
      fs.rmSync(guard, { recursive: true, force: true });
    }
    return;
  }
  try {
    if (isStale(path)) fs.rmSync(path, { force: true });
  } finally {
    fs.rmdirSync(guard);
  }
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}
