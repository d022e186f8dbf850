import { pid } from "node:process";
import type {
  JournalBackend,
  JournalEntry,
} from "../../src/session/journal.ts";
import {
  entryAfter,
  linesOf,
  positionOf,
  s,
} from "../../src/testing/journal_subject.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { isLong } from "../support/runtime.ts";
import type { Program } from "./processes.ts";

/** Appends from where the journal ends until the process is killed, and prints the number of each line that was acknowledged. */
export async function appendUntilKilled(
  journal: JournalBackend,
  lines: LineForm,
): Promise<never> {
  let last = entriesOf(lines, (await linesOf(journal)).length).at(-1);
  console.log(`pid ${pid}`);
  for (;;) {
    last = entryBehind(last, lines);
    const { ok } = await journal.append(s, last);
    if (!ok) throw new Error(`Line ${last.revision} was refused`);
    console.log(last.revision);
  }
}

/** A journal whose writers are killed. */
export interface KilledJournal {
  /** The form of its lines. */
  readonly lines: LineForm;
  /** Starts a program that appends until it is killed. */
  start(): Program;
  /** Opens the journal as another program would. */
  open(): Promise<JournalBackend>;
  /** Closes what was opened. */
  close(): Promise<void>;
}

/** Kills one writer after the other in the middle of its appends and looks at what is left. */
export async function assertOutlivesKills(
  { lines, start, open, close }: KilledJournal,
): Promise<void> {
  let knownCount = 0;
  for (const life of lives()) {
    const writer = start();
    const processId = await processIdOf(writer);
    for (let n = 0; n < life; n++) knownCount = Number(await writer.line());
    await writer.kill(processId);
    // It may have gone on before it died.
    for (let line; (line = await writer.line()) !== null;) {
      knownCount = Number(line);
    }
    const journal = await open();
    const kept = { lines, knownCount };
    // A server may still be at the last append of a dead writer, and be faster with it.
    const appended = await goOn(journal, kept) ?? await goOn(journal, kept);
    assert(appended !== null, "The next append works");
    knownCount = appended;
    await close();
  }
}

/** Looks at what was kept and appends. @returns The number of the line; null if it was refused. */
async function goOn(
  journal: JournalBackend,
  kept: KeptLines,
): Promise<number | null> {
  const next = assertKept(await linesOf(journal), kept);
  const { ok } = await journal.append(s, next);
  return ok ? next.revision : null;
}

async function processIdOf(writer: Program): Promise<number> {
  const line = await writer.line();
  if (line === null) await writer.done; // rejects with what went wrong
  return Number(line!.replace("pid ", ""));
}

/** What should be in a journal. */
export interface KeptLines {
  readonly lines: LineForm;
  /** Lines that were acknowledged. */
  readonly knownCount: number;
}

/**
 * Fails unless a journal holds what was acknowledged, whole, and at most the one line more that was
 * on its way.
 *
 * @returns The entry that comes next.
 */
export function assertKept(
  found: readonly string[],
  { lines, knownCount }: KeptLines,
): JournalEntry {
  const entries = entriesOf(lines, found.length);
  assertEquals(found, entries.map(({ line }) => line));
  const more = found.length - knownCount;
  assert(more === 0 || more === 1, `${more} lines more than acknowledged`);
  return entryBehind(entries.at(-1), lines);
}

/** How long the lines are: every fifth as long as is said, the others short. */
export interface LineForm {
  readonly longLength: number;
}

/** The entry behind another one, or the first. */
export function entryBehind(
  last: JournalEntry | undefined,
  { longLength }: LineForm,
): JournalEntry {
  const after = last === undefined ? null : positionOf(last);
  const revision = (last?.revision ?? 0) + 1;
  const text = revision % 5 === 0 ? "é".repeat(longLength / 2) : "";
  return entryAfter(after, `record-${revision}`, text);
}

/** How many lines each writer lives for: the same in every run, and different from writer to writer. */
export function lives(): number[] {
  let seed = 2026;
  return Array.from({ length: isLong ? 100 : 10 }, () => {
    seed = seed * 48_271 % 2_147_483_647;
    return seed % 24;
  });
}

function entriesOf(lines: LineForm, count: number): JournalEntry[] {
  const entries: JournalEntry[] = [];
  while (entries.length < count) {
    entries.push(entryBehind(entries.at(-1), lines));
  }
  return entries;
}
