import type {
  JournalAppendResult,
  JournalBackend,
  JournalEntry,
  JournalPosition,
} from "../session/journal.ts";
import { expectEqual } from "./contract.ts";

/** A backend on a fresh, empty medium, and what can be done to it. */
export interface JournalUnderTest {
  /** The backend. */
  readonly backend: JournalBackend;
  /**
   * Another client of the same medium, as another program would open it.
   * Omit it for media that nobody else can reach.
   */
  reopen?(): JournalBackend | Promise<JournalBackend>;
  /**
   * Begins to append an entry and dies in the middle of it, as a killed program
   * does. Omit it if that cannot be arranged.
   */
  dieWhileAppending?(
    sessionId: string,
    entry: JournalEntry,
  ): void | Promise<void>;
  /** Releases the medium. */
  close?(): void | Promise<void>;
}

/** Checks one promise of a backend. */
export type JournalCheck = (journal: JournalUnderTest) => Promise<void>;

/** The session that contract cases use. */
export const s = "contract-session";

/** Texts that some medium or other might change. */
export const awkwardTexts: readonly string[] = [
  "",
  'tab\t line\n return\r quote" backslash\\ bell\u0007 null\u0000 delete\u007f',
  "line separator \u2028 paragraph separator \u2029 next line \u0085",
  "天气晴朗 👩‍👩‍👧‍👦🚀 𠜎 e\u0301 é",
  "byte order mark \ufeff in the middle",
  "half a pair \ud83d alone, the other half \udc00",
  "'single', `back`, $1, %s, -- comment; DROP TABLE journal",
  "x".repeat(70_000),
  "界".repeat(400_000),
];

/** Ids that some medium or other might mix up. */
export const awkwardIds: readonly string[] = [
  "plain",
  "Plain",
  "../../outside",
  "a/b",
  "a",
  "a\u0000b",
  "caf\u00e9",
  "cafe\u0301",
  "🚀 and 'quotes'",
  "con",
  "x".repeat(1000),
  "\0".repeat(1100),
  longId("session"),
  longId("other"),
];

/** An id that is longer than most keys may be, and hard to compress. */
export function longId(name: string): string {
  const numbers = Array.from(
    { length: 1_200 },
    (_, index) => (index * index * 7919 % 99_991).toString(36),
  );
  return `${numbers.join("")}界${name}`;
}

/** An entry whose line is what a backend may meet: canonical JSON with the usual members. */
export function entryAfter(
  after: JournalPosition | null,
  recordId: string,
  text = "",
): JournalEntry {
  const revision = (after?.revision ?? 0) + 1;
  const line = JSON.stringify({
    agent_id: "contract",
    branch_id: "main",
    record_id: recordId,
    revision,
    text,
    type: "run_started",
  });
  return { after, revision, recordId, line, checkpoint: false };
}

/** An entry that holds the whole state of `main`. */
export function checkpointAfter(
  after: JournalPosition,
  recordId: string,
): JournalEntry {
  const entry = entryAfter(after, recordId);
  const line = entry.line.replace("run_started", "checkpoint");
  return { ...entry, line, checkpoint: true };
}

/** Where an entry stands. */
export function positionOf(
  { revision, recordId }: JournalEntry,
): JournalPosition {
  return { revision, recordId };
}

/** The answer to an append that came too late. */
export function refusal(last: JournalEntry | undefined): JournalAppendResult {
  return { ok: false, last: last === undefined ? null : positionOf(last) };
}

/** What is not as usual. */
export interface SubjectOptions {
  readonly sessionId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly text?: string | undefined;
}

/** All lines behind a known one. */
export async function linesOf(
  backend: JournalBackend,
  after: JournalPosition | null = null,
  { sessionId = s, signal }: SubjectOptions = {},
): Promise<string[]> {
  const found: string[] = [];
  for await (const lines of backend.read(sessionId, after, { signal })) {
    found.push(...lines);
  }
  return found;
}

/** Stores a number of lines. */
export async function fill(
  backend: JournalBackend,
  count: number,
  { sessionId = s, text = "" }: SubjectOptions = {},
): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  while (entries.length < count) {
    const last = entries.at(-1);
    const after = last === undefined ? null : positionOf(last);
    const entry = entryAfter(after, `record-${entries.length + 1}`, text);
    expectEqual(await backend.append(sessionId, entry), { ok: true }, "append");
    entries.push(entry);
  }
  return entries;
}

/** Appends a record, reading on for as long as others are faster. */
export async function insist(
  backend: JournalBackend,
  recordId: string,
): Promise<void> {
  let last: JournalPosition | null = null;
  for (;;) {
    const answer = await backend.append(s, entryAfter(last, recordId));
    if (answer.ok) return;
    for await (const lines of backend.read(s, last)) {
      for (const line of lines) {
        const revision: number = (last?.revision ?? 0) + 1;
        last = { revision, recordId: JSON.parse(line).record_id };
      }
    }
  }
}

/** Several clients of one medium; the first is the backend itself. */
export async function clients(
  journal: JournalUnderTest,
  count: number,
): Promise<JournalBackend[]> {
  const found = [journal.backend];
  while (found.length < count) {
    found.push(await journal.reopen?.() ?? journal.backend);
  }
  return found;
}
