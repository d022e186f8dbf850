import { followSignal } from "../base/abort.ts";
import { frozen } from "../base/freeze.ts";
import { requireMethods, requireObject } from "../base/require.ts";
import { abortableSteps } from "./abortable.ts";
import {
  readFailure,
  SessionArgumentError,
  SessionConflictError,
  SessionSerializationError,
  SessionStorageError,
} from "./errors.ts";
import {
  DEFAULT_SESSION_BRANCH,
  requireRecordId,
  requireSessionId,
} from "./ids.ts";
import {
  isSamePosition,
  type JournalBackend,
  type JournalEntry,
} from "./journal.ts";
import { bytesOf, type JournalSource } from "./journal_source.ts";
import { LineSplitter } from "./lines.ts";
import { isCheckpointOfMain, type SessionRecord } from "./record.ts";
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
 * The stream is empty if the session does not exist. It fails with a
 * {@linkcode SessionStorageError} if the journal cannot be read.
 *
 * @throws {TypeError} The storage is none over a journal, or an id is no text.
 * @throws {RangeError} The id is blank.
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
  const backend = backendOf(storage, ["read"]);
  requireObject("The options", options);
  const utf8 = new TextEncoder();
  const id = requireSessionId(sessionId);
  const end = new AbortController();
  const { signal } = end;
  const pages = filledPages(
    abortableSteps(backend.read(id, null, { signal }), signal),
  );
  return new ReadableStream({
    async pull(controller) {
      const unfollow = followSignal(
        options.signal,
        (reason) => end.abort(reason),
      );
      try {
        const { done, value } = await pages.next();
        if (done) controller.close();
        else controller.enqueue(utf8.encode(value.join("\n") + "\n"));
      } catch (error) {
        throw readFailure(id, error);
      } finally {
        unfollow();
      }
    },
    async cancel(reason) {
      // A generator takes its return only when its step is over.
      end.abort(reason);
      await pages.return(undefined);
    },
  }, { highWaterMark: 0 });
}

/** How a journal is imported. */
export interface ImportJournalOptions extends StorageCallOptions {
  /** The session that the journal must be of. @default any session */
  readonly sessionId?: string | undefined;
  /** The agent that the journal must be of, unless it names none. @default any agent */
  readonly agentId?: string | undefined;
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
 * @throws {SessionConflictError} The session exists and its journal is another one.
 * @throws {SessionStorageError} A line could not be stored.
 * @throws {SessionArgumentError} `foreign_agent`: it is not of the agent that was asked for.
 * @throws {RangeError} It is not of the session that was asked for.
 * @throws {TypeError} The storage is none over a journal, or the source gives no bytes.
 */
export async function importJournal(
  storage: JournalOwner,
  source: JournalSource | (() => JournalSource),
  options: ImportJournalOptions = {},
): Promise<ImportedJournal> {
  const backend = backendOf(storage, ["read", "append"]);
  requireObject("The options", options);
  if (typeof source !== "function") {
    return await store(backend, source, options);
  }
  for await (const _ of checkedLines(source(), options));
  return await store(backend, source(), options);
}

function backendOf(
  storage: JournalOwner | null | undefined,
  methods: readonly string[],
): JournalBackend {
  const backend = storage?.backend;
  requireMethods("The backend of storage", backend, methods);
  return backend!;
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
      else if (value !== entry.line) throw conflict(line);
      last = line;
    }
    if (last === undefined) {
      throw new SessionSerializationError(
        "The journal to import holds no record",
      );
    }
    const { done } = await known!.next();
    if (!done) throw conflict(last, { isLonger: true });
  } finally {
    await known?.return(undefined);
  }
  return frozen({
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
  { splitter = new LineSplitter(), ...wanted }: CheckOptions,
): AsyncGenerator<CheckedLine> {
  let tree: JournalTree | undefined;
  for await (const bytes of bytesOf(source, wanted)) {
    for (const line of splitter.push(bytes)) {
      tree ??= new JournalTree(sessionOf(line, wanted), () => {});
      const after = tree.position;
      const record = tree.read(line);
      requireOwner(record, wanted);
      const { revision, recordId } = record;
      requireKeepable(record);
      const checkpoint = isCheckpointOfMain(record);
      yield {
        sessionId: tree.sessionId,
        entry: { after, revision, recordId, line, checkpoint },
      };
    }
  }
}

/** @throws {SessionSerializationError} Some media would keep the id as something else. */
function requireKeepable({ recordId, revision }: SessionRecord): void {
  try {
    requireRecordId(recordId);
  } catch (error) {
    throw error instanceof SessionSerializationError
      ? error.at(revision)
      : error;
  }
}

/** The session of a journal, as its first line names it. */
function sessionOf(
  line: string,
  { sessionId: wanted }: ImportJournalOptions,
): string {
  const sessionId = namedIn(line);
  if (wanted === undefined || requireSessionId(wanted) === sessionId) {
    return sessionId;
  }
  throw new RangeError(
    `The journal to import is of session "${sessionId}", not of "${wanted}"; ` +
      `it needs sessionId "${sessionId}"`,
  );
}

function namedIn(firstLine: string): string {
  try {
    return requireSessionId(decodeRecord(firstLine).sessionId);
  } catch (error) {
    throw error instanceof SessionSerializationError ? error.at(1) : error;
  }
}

function requireOwner(
  { agentId }: SessionRecord,
  { agentId: wanted }: ImportJournalOptions,
): void {
  if (wanted === undefined || agentId === null || agentId === wanted) return;
  throw new SessionArgumentError(
    "foreign_agent",
    `The journal to import is of agent "${agentId}", not of "${wanted}"; ` +
      `only an agent with agentId "${agentId}" can go on with it`,
  );
}

async function* storedLines(
  backend: JournalBackend,
  sessionId: string,
  { signal }: StorageCallOptions,
): AsyncGenerator<string> {
  const pages = backend.read(sessionId, null, { signal });
  for await (const lines of abortableSteps(pages, signal)) {
    yield* lines;
  }
}

const maxAttempts = 5;

async function append(
  backend: JournalBackend,
  line: CheckedLine,
  { signal }: StorageCallOptions,
): Promise<void> {
  const { sessionId, entry } = line;
  for (let attempt = 1;; attempt++) {
    const answer = await backend.append(sessionId, entry, { signal });
    if (answer.ok) return;
    // A medium may refuse for the sake of another session and be where it was.
    const { last } = answer;
    if (!isSamePosition(last, entry.after)) {
      throw conflict(line, { actualHead: last?.recordId });
    }
    if (attempt === maxAttempts) {
      throw new SessionStorageError(
        `Too many writers kept a line of session "${sessionId}" from being stored; ` +
          "import the journal again",
        { retryable: true },
      );
    }
  }
}

interface ConflictFacts {
  readonly actualHead?: string | undefined;
  /** True if the session holds all lines of the journal, and more. */
  readonly isLonger?: boolean;
}

function conflict(
  { sessionId, entry }: CheckedLine,
  { actualHead, isLonger = false }: ConflictFacts = {},
): SessionConflictError {
  const facts = {
    branchId: DEFAULT_SESSION_BRANCH,
    expectedHead: entry.after?.recordId ?? null,
    actualHead: actualHead ?? null,
  };
  return new SessionConflictError(
    facts,
    isLonger
      ? `Session "${sessionId}" goes on behind the journal to import, which is an older copy; ` +
        "there is nothing to add"
      : `Session "${sessionId}" exists and holds another journal than the one to import; ` +
        "delete it first, or import into a storage without it",
  );
}
