import type {
  JournalAppendResult,
  JournalBackend,
  JournalEntry,
  JournalPosition,
} from "../../src/session/journal.ts";
import { LineSplitter } from "../../src/session/lines.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { base64Bytes, fixture } from "../support/fixtures.ts";
import fixtures from "./fixtures/python_journals.json" with { type: "json" };

/** JSON of a fixture whose shape the test knows. */
// deno-lint-ignore no-explicit-any -- fixtures are compared as a whole, not taken apart
export type Json = any;

/** A call that was made on the journal, and what came of it. */
export interface FixtureOperation {
  readonly op: string;
  readonly args: Json;
  readonly outcome?: Json;
  readonly error?: { readonly type: string; readonly message: string };
  readonly file_after?: { readonly lines: number };
}

/** A journal that EJAgent Core 0.6.0 wrote, and how it reads it. */
export interface JournalFixture {
  readonly case: string;
  readonly description: string;
  readonly session_id: string;
  readonly agent_id: string;
  /** Name of the file that the reference implementation gave it. */
  readonly journal_file: string;
  readonly journal: {
    readonly complete_lines: number;
    readonly committed_bytes: number;
  };
  readonly read: {
    readonly ok: boolean;
    readonly session: Json;
    readonly messages: Json;
    readonly branches: Json;
    readonly heads: Json;
    readonly records: Json;
    readonly checkouts: Json;
    readonly record_checkouts?: Json;
  };
  readonly restore: Json;
  readonly operations: readonly FixtureOperation[];
  /** The file, in base64. */
  readonly bytes: string;
}

/** All journals, by the alphabet. */
export const journalFixtures: readonly JournalFixture[] = fixture<
  JournalFixture[]
>(fixtures);

/** One journal. */
export function journalFixture(name: string): JournalFixture {
  const found = journalFixtures.find((one) => one.case === name);
  if (found === undefined) {
    throw new TypeError(`There is no journal fixture "${name}"`);
  }
  return found;
}

/**
 * A journal file in memory: lines behind the last line feed count for nothing, and the next append
 * cuts them off.
 */
export class ByteJournal implements JournalBackend {
  readonly capabilities = {
    conditionalAppend: "strict",
    durability: "process",
    sharedWriters: "object",
    maxRecordBytes: null,
  } as const;
  bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  async *read(
    _sessionId: string,
    after: JournalPosition | null,
  ): AsyncGenerator<readonly string[]> {
    const lines = await Promise.resolve(new LineSplitter().push(this.bytes));
    yield lines.slice(after?.revision ?? 0);
  }

  async append(
    _sessionId: string,
    entry: JournalEntry,
  ): Promise<JournalAppendResult> {
    const end = this.bytes.lastIndexOf(10) + 1;
    const line = new TextEncoder().encode(`${entry.line}\n`);
    const bytes = new Uint8Array(end + line.length);
    bytes.set(this.bytes.subarray(0, end));
    bytes.set(line, end);
    this.bytes = await Promise.resolve(bytes);
    return { ok: true };
  }
}

/** A fixture and a storage over a copy of its file. */
export function openFixture(
  name: string,
): {
  readonly expected: JournalFixture;
  readonly journal: ByteJournal;
  readonly storage: JournalTreeStorage;
} {
  const expected = journalFixture(name);
  const journal = new ByteJournal(base64Bytes(expected.bytes));
  const logger = { warn() {} };
  return {
    expected,
    journal,
    storage: new JournalTreeStorage(journal, { logger }),
  };
}

/** Bytes as a text in which they can be compared and shown; damaged ones are replaced. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
