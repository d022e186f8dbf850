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
  const pages = filledPages(
    storage.backend.read(requireSessionId(sessionId), null, options),
  );
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pages.next();
      if (done) controller.close();
      else controller.enqueue(utf8.encode(value.join("\n") + "\n"));
    },
    async cancel() {
      await pages.return(undefined);
    },
  }, { highWaterMark: 0 });
}

/** Bytes of a JSONL journal: the body of a response, an open file, an export. */
export type JournalSource =
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>;

/** How a journal is imported. */
export interface ImportJournalOptions extends StorageCallOptions {
  /** The session that the journal must be of. @default any session */
  readonly sessionId?: string | undefined;
}

/**
 * Stores the lines of a JSONL journal unchanged, each as soon as it has been
 * read and checked; nothing is read before there is room for it.
 *
 * The session must not exist; but if it holds the beginning of this very journal,
 * as after an interrupted import, the rest is added. A journal that turns out to
 * be damaged is stored up to the damage at most, and an import of the mended one goes on
 * there. If the source is a function it is called twice, and everything is checked
 * before anything is stored: a damaged journal then stores nothing.
 *
 * @param source The bytes, or what opens them.
 * @throws {SessionSerializationError} It is damaged or empty.
 * @throws {SessionConflictError} The session exists and is another one.
 * @throws {RangeError} It is not of the session that was asked for.
 */
export async function importJournal(
  storage: JournalOwner,
  source: JournalSource | (() => JournalSource),
  options: ImportJournalOptions = {},
): Promise<ImportedJournal> {
  const { backend } = storage;
  if (typeof source !== "function") {
    return await store(backend, source, options);
  }
  for await (const _ of checkedLines(source(), options));
  return await store(backend, source(), options);
}

/** A stream is not asked again until a pull has brought something. */
async function* filledPages(
  pages: AsyncIterable<readonly string[]>,
): AsyncGenerator<readonly string[]> {
  for await (const lines of pages) {
    if (lines.length > 0) yield lines;
  }
}

async function store(
  backend: JournalBackend,
  source: JournalSource,
  options: ImportJournalOptions,
): Promise<ImportedJournal> {
  const splitter = new LineSplitter();
  let known: AsyncGenerator<string> | undefined;
  let last: CheckedLine | undefined;
  try {
    for await (const line of checkedLines(source, { ...options, splitter })) {
      const { sessionId, entry } = line;
      known ??= storedLines(backend, sessionId, options);
      const { done, value } = await known.next();
      if (done) await append(backend, line, options);
      else if (value !== entry.line) throw conflict(entry, undefined);
      last = line;
    }
    if (last === undefined) {
      throw new SessionSerializationError(
        "The journal to import holds no record",
      );
    }
    const { done } = await known!.next();
    if (!done) throw conflict(last.entry, undefined);
  } finally {
    await known?.return(undefined);
  }
  return Object.freeze({
    sessionId: last.sessionId,
    recordCount: last.entry.revision,
    ignoredByteCount: splitter.rest.length,
  });
}

interface CheckedLine {
  readonly sessionId: string;
  readonly entry: JournalEntry;
}

interface CheckOptions extends ImportJournalOptions {
  readonly splitter?: LineSplitter;
}

async function* checkedLines(
  source: JournalSource,
  { splitter = new LineSplitter(), sessionId: wanted }: CheckOptions,
): AsyncGenerator<CheckedLine> {
  let tree: JournalTree | undefined;
  for await (const bytes of source as AsyncIterable<Uint8Array>) {
    for (const line of splitter.push(bytes)) {
      tree ??= new JournalTree(sessionOf(line, wanted), () => {});
      const after = tree.position;
      const record = tree.read(line);
      const { revision, recordId } = record;
      const checkpoint = isCheckpointOfMain(record);
      yield {
        sessionId: tree.sessionId,
        entry: { after, revision, recordId, line, checkpoint },
      };
    }
  }
}

function sessionOf(line: string, wanted: string | undefined): string {
  const { sessionId } = decodeRecord(line);
  if (wanted === undefined || wanted === sessionId) return sessionId;
  throw new RangeError(`The journal to import must be of session "${wanted}"`);
}

async function* storedLines(
  backend: JournalBackend,
  sessionId: string,
  { signal }: StorageCallOptions,
): AsyncGenerator<string> {
  for await (const lines of backend.read(sessionId, null, { signal })) {
    yield* lines;
  }
}

async function append(
  backend: JournalBackend,
  { sessionId, entry }: CheckedLine,
  { signal }: StorageCallOptions,
): Promise<void> {
  const answer = await backend.append(sessionId, entry, { signal });
  if (!answer.ok) throw conflict(entry, answer.last?.recordId);
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
