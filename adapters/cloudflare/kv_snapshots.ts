import { throwIfAborted } from "../../src/base/abort.ts";
import {
  SessionSerializationError,
  SessionUnsupportedError,
} from "../../src/session/errors.ts";
import {
  DEFAULT_SESSION_BRANCH,
  requireSessionId,
} from "../../src/session/ids.ts";
import type { JournalCapabilities } from "../../src/session/journal.ts";
import type { AgentSession } from "../../src/session/session.ts";
import {
  sessionFromJson,
  sessionToJson,
} from "../../src/session/session_codec.ts";
import type {
  SaveOptions,
  SessionStorage,
  StorageCallOptions,
} from "../../src/session/storage.ts";
import { type KvNamespace, sessionKey } from "./kv_types.ts";

/** How Workers KV is used. */
export interface KvOptions {
  /** What all keys begin with. @default {"session/"} */
  readonly prefix?: string | undefined;
}

/** What Workers KV can promise. */
export const kvCapabilities: JournalCapabilities = Object.freeze({
  conditionalAppend: "none",
  durability: "eventual",
  sharedWriters: "single",
  maxRecordBytes: 25 * 1024 * 1024,
});

/**
 * Whole sessions in Workers KV, for one writer and readers who need not have the
 * newest.
 *
 * KV compares nothing and is eventually consistent: of two writers one silently
 * loses, another location may see an old session or none for a minute and more,
 * and a key takes one write a second. Save once per run, from one place, what may
 * be lost; for anything else keep sessions in a Durable Object.
 *
 * @example
 * ```ts ignore
 * import { KvSessionSnapshots } from "@ejagent/core/cloudflare";
 *
 * const snapshots = new KvSessionSnapshots(env.SESSIONS);
 * await snapshots.save(session);
 * ```
 */
export class KvSessionSnapshots implements SessionStorage {
  /** Nothing can be compared, and nothing is certain at once. */
  readonly capabilities: JournalCapabilities = kvCapabilities;
  readonly #kv: KvNamespace;
  readonly #prefix: string;

  /** Makes a storage over a binding. */
  constructor(kv: KvNamespace, options: KvOptions = {}) {
    this.#kv = kv;
    this.#prefix = options.prefix ?? "session/";
  }

  /**
   * The session as this location sees it; null if it sees none.
   *
   * @throws {SessionSerializationError} What is stored is no session.
   */
  async load(
    sessionId: string,
    options: StorageCallOptions = {},
  ): Promise<AgentSession | null> {
    throwIfAborted(options.signal);
    const text = await this.#kv.get(await this.#key(sessionId));
    return text === null ? null : sessionFromJson(parse(text));
  }

  /**
   * Stores the session, whatever was stored before.
   *
   * @throws {SessionUnsupportedError} A head is expected, or another branch than `main`.
   */
  async save(session: AgentSession, options: SaveOptions = {}): Promise<void> {
    throwIfAborted(options.signal);
    const { expectedHead, branchId = DEFAULT_SESSION_BRANCH } = options;
    if (expectedHead !== undefined || branchId !== DEFAULT_SESSION_BRANCH) {
      throw new SessionUnsupportedError(
        "Workers KV compares nothing and has no branches; keep the session in a Durable Object",
      );
    }
    const text = JSON.stringify(sessionToJson(session));
    await this.#kv.put(await this.#key(session.sessionId), text);
  }

  async #key(sessionId: string): Promise<string> {
    return this.#prefix + await sessionKey(requireSessionId(sessionId));
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SessionSerializationError("The snapshot is no JSON", { cause });
  }
}
