import { SessionConflictError, SessionSerializationError } from "./errors.ts";
import { DEFAULT_SESSION_BRANCH, requireSessionId } from "./ids.ts";
import type { JournalBackend, JournalEntry } from "./journal.ts";
import { LineSplitter } from "./lines.ts";
import { isCheckpointOfMain } from "./record.ts";
import { decodeRecord } from "./record_codec.ts";
import type { StorageCallOptions } from "./storage.ts";
import { JournalTree } from "./tree.ts";

/** What has a {@linkcode JournalBackend}: every storage over a journal. */
export interface JournalOwner {
  /** Where the lines are. */
  readonly backend: JournalBackend;
}

/** What was imported. */
export interface ImportedJournal {
  /** The session, as its records name it. */
  readonly sessionId: string;
  /** Records that it has now. */
  readonly recordCount: number;
  /** Bytes behind the last line feed; they are no record and were left out. */
  readonly ignoredByteCount: number;
}

/**
 * A journal as the bytes of a JSONL file, exactly as its lines are stored.
 *
 * Nothing is read before the stream is, and never more than what is asked for.
 * The stream is empty if the session does not exist.
 *
 * @example Move a session to another storage
 * ```ts
 * import { AgentSession, exportJournal, importJournal, MemorySessionStorage } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const from = new MemorySessionStorage();
 * const to = new MemorySessionStorage();
 * await from.save(new AgentSession("s1", "helper"));
 *
 * const { recordCount } = await importJournal(to, exportJournal(from, "s1"));
 * equal(recordCount, 1);
 * equal((await to.load("s1"))?.agentId, "helper");
 * ```
 */
export function exportJournal(
  storage: JournalOwner,
  sessionId: string,
  options: StorageCallOptions = {},
): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder();
  const chunks = storage.backend
    .read(requireSessionId(sessionId), null, options)[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else if (value.length > 0) {
        controller.enqueue(utf8.encode(value.join("\n") + "\n"));
      }
    },
    async cancel() {
      await chunks.return?.();
    },
  }, { highWaterMark: 0 });
}

/**
 * Stores the lines of a JSONL journal unchanged.
 *
 * Everything is read and checked first, so a damaged journal stores nothing. The
 * session must not exist; but if it holds the beginning of this very journal, as
 * after an interrupted import, the rest is added.
 *
 * @param source Bytes of a JSONL journal, for example the body of a response.
 * @throws {SessionSerializationError} It is damaged or empty.
 * @throws {SessionConflictError} The session exists and is another one.
 */
export async function importJournal(
  storage: JournalOwner,
  source: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
  options: StorageCallOptions = {},
): Promise<ImportedJournal> {
  const journal = await readJournal(source as AsyncIterable<Uint8Array>);
  const { entries, sessionId, ignoredByteCount } = journal;
  const { backend } = storage;
  const storedCount = await countStored(backend, {
    sessionId,
    entries,
    ...options,
  });
  for (const entry of entries.slice(storedCount)) {
    const answer = await backend.append(sessionId, entry, options);
    if (!answer.ok) throw conflict(entry, answer.last?.recordId);
  }
  return Object.freeze({
    sessionId,
    recordCount: entries.length,
    ignoredByteCount,
  });
}

interface ReadJournal {
  readonly sessionId: string;
  readonly entries: readonly JournalEntry[];
  readonly ignoredByteCount: number;
}

async function readJournal(
  source: AsyncIterable<Uint8Array>,
): Promise<ReadJournal> {
  const splitter = new LineSplitter();
  const entries: JournalEntry[] = [];
  let tree: JournalTree | undefined;
  for await (const bytes of source) {
    for (const line of splitter.push(bytes)) {
      tree ??= new JournalTree(decodeRecord(line).sessionId, () => {});
      const after = tree.position;
      const record = tree.read(line);
      const { revision, recordId } = record;
      entries.push({
        after,
        revision,
        recordId,
        line,
        checkpoint: isCheckpointOfMain(record),
      });
    }
  }
  if (tree === undefined) {
    throw new SessionSerializationError(
      "The journal to import holds no record",
    );
  }
  return {
    sessionId: tree.sessionId,
    entries,
    ignoredByteCount: splitter.rest.length,
  };
}

interface ImportRequest extends StorageCallOptions {
  readonly sessionId: string;
  readonly entries: readonly JournalEntry[];
}

/** How many of the entries are stored already. */
async function countStored(
  backend: JournalBackend,
  request: ImportRequest,
): Promise<number> {
  const { sessionId, entries, signal } = request;
  let count = 0;
  for await (const lines of backend.read(sessionId, null, { signal })) {
    for (const line of lines) {
      const entry = entries[count++];
      if (entry?.line !== line) {
        throw conflict(entry ?? entries.at(-1)!, undefined);
      }
    }
  }
  return count;
}

function conflict(
  entry: JournalEntry,
  actualHead: string | undefined,
): SessionConflictError {
  return new SessionConflictError({
    branchId: DEFAULT_SESSION_BRANCH,
    expectedHead: entry.after?.recordId ?? null,
    actualHead: actualHead ?? null,
  });
}
