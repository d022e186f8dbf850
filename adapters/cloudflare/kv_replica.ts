import { throwIfAborted } from "../../src/base/abort.ts";
import {
  JournalReplacedError,
  SessionStorageError,
  SessionUnsupportedError,
} from "../../src/session/errors.ts";
import type { JournalOwner } from "../../src/session/export.ts";
import { requireSessionId } from "../../src/session/ids.ts";
import type {
  JournalAppendResult,
  JournalBackend,
  JournalCallOptions,
  JournalCapabilities,
  JournalPosition,
} from "../../src/session/journal.ts";
import { decodeRecord } from "../../src/session/record_codec.ts";
import { kvCapabilities, type KvOptions } from "./kv_snapshots.ts";
import {
  idInKey,
  type KvNamespace,
  namesIn,
  recordKey,
  sessionKey,
} from "./kv_types.ts";

interface ReplicaKey {
  readonly name: string;
  readonly revision: number;
  /** The record id as it stands in the name. */
  readonly record: string;
}

/**
 * Copies of journals in Workers KV, to be read near the reader or kept as an
 * archive.
 *
 * Every line has a key of its own that names its record and is never written
 * again. Readers see a beginning of the journal, maybe an old one. Two records of
 * one number prove that two journals were copied to one place; then nothing is
 * read, since nobody can say which is right. It takes no appends: it copies.
 *
 * @example Copy after a run, read elsewhere
 * ```ts ignore
 * import { KvJournalReplica } from "@ejagent/core/cloudflare";
 * import { JournalTreeStorage } from "@ejagent/core/session";
 *
 * const replica = new KvJournalReplica(env.SESSIONS);
 * await replica.copy(sessions, "chat-1");
 * const session = await new JournalTreeStorage(replica).load("chat-1");
 * ```
 */
export class KvJournalReplica implements JournalBackend {
  /** Nothing can be compared, and nothing is certain at once. */
  readonly capabilities: JournalCapabilities = kvCapabilities;
  readonly #kv: KvNamespace;
  readonly #prefix: string;

  /** Makes replicas in a binding. */
  constructor(kv: KvNamespace, options: KvOptions = {}) {
    this.#kv = kv;
    this.#prefix = options.prefix ?? "journal/";
  }

  /**
   * Copies what is not there yet.
   *
   * @returns How many lines were copied.
   * @throws {SessionStorageError} The copy is of another journal.
   */
  async copy(
    from: JournalOwner,
    sessionId: string,
    options: JournalCallOptions = {},
  ): Promise<number> {
    const id = requireSessionId(sessionId);
    const keys = await this.#keys(id);
    let last = await this.#positionOf(keys.at(-1));
    let count = 0;
    for await (const lines of from.backend.read(id, last, options)) {
      for (const line of lines) {
        const revision: number = (last?.revision ?? 0) + 1;
        last = { revision, recordId: decodeRecord(line).recordId };
        await this.#kv.put(await this.#nameOf(id, last), line);
        count += 1;
      }
    }
    return count;
  }

  /**
   * Reads the lines behind a known one, as far as this location sees them.
   *
   * @throws {SessionStorageError} There are two records of one number.
   */
  async *read(
    sessionId: string,
    after: JournalPosition | null,
    { signal }: JournalCallOptions = {},
  ): AsyncGenerator<readonly string[]> {
    throwIfAborted(signal);
    const keys = await this.#keys(sessionId);
    const known = after?.revision ?? 0;
    if (after !== null && !await isNamed(keys[known - 1], after.recordId)) {
      throw new JournalReplacedError(sessionId);
    }
    for (const { name } of keys.slice(known)) {
      const line = await this.#kv.get(name);
      if (line === null) return; // Listed here before it has arrived here.
      yield [line];
    }
  }

  /** Never appends. @throws {SessionUnsupportedError} Always. */
  append(): Promise<JournalAppendResult> {
    return Promise.reject(
      new SessionUnsupportedError(
        "Workers KV cannot append under a condition; append to a Durable Object and copy from there",
      ),
    );
  }

  /** The keys of the lines from the first one on, without a gap. */
  async #keys(sessionId: string): Promise<readonly ReplicaKey[]> {
    const prefix = await this.#prefixOf(sessionId);
    const keys: ReplicaKey[] = [];
    for (const name of await namesIn(this.#kv, prefix)) {
      const [digits = "", record = ""] = name.slice(prefix.length).split(
        "-",
        2,
      );
      const revision = Number(digits);
      if (revision === keys.length) throw divergence(sessionId, revision);
      if (revision > keys.length + 1) break;
      keys.push({ name, revision, record });
    }
    return keys;
  }

  /** Which line a key stands for. A long id is in the line alone. */
  async #positionOf(
    key: ReplicaKey | undefined,
  ): Promise<JournalPosition | null> {
    if (key === undefined) return null;
    const { name, revision, record } = key;
    const known = idInKey(record);
    if (known !== null) return { revision, recordId: known };
    const line = await this.#kv.get(name);
    if (line !== null) {
      return { revision, recordId: decodeRecord(line).recordId };
    }
    throw new SessionStorageError(
      "The last line of the copy is listed here and has not arrived yet; copy again later",
      { retryable: true },
    );
  }

  async #nameOf(
    sessionId: string,
    { revision, recordId }: JournalPosition,
  ): Promise<string> {
    const number = String(revision).padStart(10, "0");
    const record = await recordKey(recordId);
    return `${await this.#prefixOf(sessionId)}${number}-${record}`;
  }

  async #prefixOf(sessionId: string): Promise<string> {
    return `${this.#prefix}${await sessionKey(sessionId)}/`;
  }
}

async function isNamed(
  key: ReplicaKey | undefined,
  recordId: string,
): Promise<boolean> {
  if (key === undefined) return false;
  const known = idInKey(key.record);
  return known === null
    ? key.record === await recordKey(recordId)
    : known === recordId;
}

function divergence(sessionId: string, revision: number): SessionStorageError {
  return new SessionStorageError(
    `Two records have number ${revision} in the copy of session "${sessionId}": ` +
      "two journals were copied to one place; delete the copy and copy again",
  );
}
