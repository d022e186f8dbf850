import { throwIfAborted } from "../../src/base/abort.ts";
import { type Clock, systemClock } from "../../src/base/ports.ts";
import { requireList, requireType } from "../../src/base/require.ts";
import {
  JournalReplacedError,
  SessionSerializationError,
} from "../../src/session/errors.ts";
import {
  isSamePosition,
  type JournalAppendResult,
  type JournalBackend,
  type JournalCallOptions,
  type JournalCapabilities,
  type JournalEntry,
  type JournalLine,
  type JournalPosition,
} from "../../src/session/journal.ts";
import { commitPatiently } from "./commit.ts";
import { sessionKeys } from "./keys.ts";
import type { KvKeyPart, KvStore } from "./kv_store.ts";
import { readParts, storeParts } from "./parts.ts";

/** How a {@linkcode DenoKvJournal} works. */
export interface DenoKvJournalOptions {
  /** What all keys begin with. @default {["ejagent"]} */
  readonly prefix?: readonly KvKeyPart[] | undefined;
  /** Measures the pauses while another process has a file locked. @default {the platform's clock} */
  readonly clock?: Clock | undefined;
}

/** The value of a line: its bytes, or the name under which its parts are. */
type StoredLine =
  & { readonly recordId: string }
  & ({ readonly bytes: Uint8Array } | {
    readonly digest: Uint8Array;
    readonly partCount: number;
  });

const kvFunctions = ["get", "list", "atomic"] as const;
// A value may have 65 536 bytes, its form and the record id included.
const maxInlineBytes = 60_000;
const maxPageLength = 1 << 20;

/**
 * Journals in Deno KV, one entry a line.
 *
 * The entry of the newest line decides between writers, in one atomic operation,
 * so hosts and processes may share a database. Lines of more than 60 kB are kept
 * in parts, which nobody sees before the line itself is stored.
 *
 * @example
 * ```ts ignore
 * import { DenoKvJournal } from "@ejagent/core/deno-kv";
 * import { JournalTreeStorage } from "@ejagent/core/session";
 *
 * const storage = new JournalTreeStorage(new DenoKvJournal(await Deno.openKv()));
 * ```
 */
export class DenoKvJournal implements JournalBackend {
  /** A line is acknowledged when its operation is committed. */
  readonly capabilities: JournalCapabilities = Object.freeze({
    conditionalAppend: "strict",
    durability: "fsync",
    sharedWriters: "hosts",
    maxRecordBytes: null,
  });
  readonly #kv: KvStore;
  readonly #prefix: readonly KvKeyPart[];
  readonly #clock: Clock;

  /**
   * Makes journals in a database, which stays the caller's.
   *
   * @throws {TypeError} No open database, or a prefix that is no list.
   */
  constructor(kv: KvStore, options: DenoKvJournalOptions = {}) {
    requireType(
      kvFunctions.every((name) => typeof kv?.[name] === "function"),
      "kv",
      "an open database: await what openKv() gives",
    );
    this.#kv = kv;
    this.#prefix = [...requireList("prefix", options.prefix ?? ["ejagent"])];
    this.#clock = options.clock ?? systemClock;
  }

  /** Reads the lines behind a known one. */
  async *read(
    sessionId: string,
    after: JournalPosition | null,
    options: JournalCallOptions = {},
  ): AsyncGenerator<readonly string[]> {
    throwIfAborted(options.signal);
    const keys = await sessionKeys(this.#prefix, sessionId);
    const start = keys.line(after?.revision ?? 1);
    let known = after;
    let page: string[] = [];
    let pageLength = 0;
    for await (
      const { value } of this.#kv.list({ prefix: keys.lines, start })
    ) {
      throwIfAborted(options.signal);
      const stored = value as StoredLine;
      if (known !== null) {
        if (stored.recordId !== known.recordId) break;
        known = null;
        continue;
      }
      const line = await this.#lineOf(stored, keys.part);
      page.push(line);
      pageLength += line.length;
      if (pageLength < maxPageLength) continue;
      yield page;
      page = [];
      pageLength = 0;
    }
    if (known !== null) throw new JournalReplacedError(sessionId);
    if (page.length > 0) yield page;
  }

  /** Stores a line if the journal still ends where the writer thinks. */
  async append(
    sessionId: string,
    entry: JournalEntry,
    options: JournalCallOptions = {},
  ): Promise<JournalAppendResult> {
    throwIfAborted(options.signal);
    const { revision, recordId, checkpoint } = entry;
    const keys = await sessionKeys(this.#prefix, sessionId);
    const { value, versionstamp } = await this.#kv.get(keys.head);
    const last = value as JournalPosition | null;
    if (!isSamePosition(last, entry.after)) return { ok: false, last };

    const parts = await this.#store(entry, keys.part);
    throwIfAborted(options.signal);
    const ok = await commitPatiently(() => {
      const operation = this.#kv.atomic()
        .check({ key: keys.head, versionstamp })
        .set(keys.head, { revision, recordId })
        .set(keys.line(revision), parts);
      return checkpoint ? operation.set(keys.checkpoint, revision) : operation;
    }, this.#clock);
    if (ok) return { ok };
    const faster = await this.#kv.get(keys.head);
    return { ok, last: faster.value as JournalPosition | null };
  }

  /** Finds the newest checkpoint of `main`. */
  async findCheckpoint(
    sessionId: string,
    options: JournalCallOptions = {},
  ): Promise<JournalLine | null> {
    throwIfAborted(options.signal);
    const keys = await sessionKeys(this.#prefix, sessionId);
    const revision = (await this.#kv.get(keys.checkpoint)).value;
    if (typeof revision !== "number") return null;
    const { value } = await this.#kv.get(keys.line(revision));
    const line = await this.#lineOf(value as StoredLine, keys.part);
    return { revision, line };
  }

  async #store(
    { recordId, line }: JournalEntry,
    part: PartKey,
  ): Promise<StoredLine> {
    const bytes = new TextEncoder().encode(line);
    if (bytes.length <= maxInlineBytes) return { recordId, bytes };
    return {
      recordId,
      ...await storeParts(bytes, { kv: this.#kv, part, clock: this.#clock }),
    };
  }

  async #lineOf(stored: StoredLine, part: PartKey): Promise<string> {
    const bytes = "bytes" in stored
      ? stored.bytes
      : await readParts(this.#kv, part, stored);
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
        .decode(bytes);
    } catch (cause) {
      throw new SessionSerializationError("A line is not UTF-8", { cause });
    }
  }
}

type PartKey = (digest: Uint8Array, index: number) => readonly KvKeyPart[];
