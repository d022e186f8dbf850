import { AgentCancelledError } from "../base/abort.ts";
import type { Logger } from "../base/ports.ts";
import { abortable, abortableSteps } from "./abortable.ts";
import { withRemedy } from "./damage.ts";
import {
  JournalReplacedError,
  readFailure,
  SessionSerializationError,
} from "./errors.ts";
import { isMain } from "./ids.ts";
import type { JournalBackend, JournalPosition } from "./journal.ts";
import { isCheckpointOfMain, type SessionRecord } from "./record.ts";
import { decodeRecord } from "./record_codec.ts";
import { JournalTree, type TreeBranch, type TreeNode } from "./tree.ts";

/** What was added to the branch `main` of a journal since its last checkpoint. */
export interface JournalGrowth {
  recordCount: number;
  /** Characters in the lines of those records. */
  length: number;
  /** Characters in the line of that checkpoint. */
  readonly checkpointLength: number;
}

/** The tree of a journal, held in memory: only what is new is read. */
export class KeptTree {
  readonly #sessionId: string;
  readonly #backend: JournalBackend;
  readonly #logger: Logger;
  #tree: JournalTree | undefined;
  #growth: JournalGrowth = { recordCount: 0, length: 0, checkpointLength: 0 };

  constructor(sessionId: string, backend: JournalBackend, logger: Logger) {
    this.#sessionId = sessionId;
    this.#backend = backend;
    this.#logger = logger;
  }

  /** What was added since the last checkpoint, as far as it was read. */
  get growth(): Readonly<JournalGrowth> {
    return this.#growth;
  }

  /** The tree as it was when it was last read. @param whole False if `main` is enough. */
  known(whole: boolean): JournalTree | undefined {
    return this.#tree?.complete || !whole ? this.#tree : undefined;
  }

  /**
   * The tree as it is now.
   *
   * @param whole False if `main` is enough.
   * @param into Gets the records that were read.
   */
  async current(
    whole: boolean,
    signal?: AbortSignal,
    into?: SessionRecord[],
  ): Promise<JournalTree> {
    if (this.known(whole) === undefined) this.forget();
    for (let mayRepeat = true;; mayRepeat = false) {
      try {
        return await this.#readOn(whole, signal, into);
      } catch (error) {
        if (error instanceof AgentCancelledError) throw error;
        this.forget();
        into?.splice(0);
        const isReplaced = error instanceof JournalReplacedError;
        if (!isReplaced || !mayRepeat) {
          throw await this.#explained(error, signal);
        }
      }
    }
  }

  /** Takes a record that was stored. */
  add(record: SessionRecord, node: TreeNode, line: string): TreeBranch {
    this.#grow(record, line);
    return this.#tree!.add(record, node);
  }

  /** Reads everything anew next time. */
  forget(): void {
    this.#tree = undefined;
    this.#growth = { recordCount: 0, length: 0, checkpointLength: 0 };
  }

  /** The branch of a node as it was when it ended there; the record is read again unless it still does. */
  async branchAt(
    tree: JournalTree,
    node: TreeNode,
    signal?: AbortSignal,
  ): Promise<TreeBranch> {
    const branch = tree.branch(node.branchId)!;
    if (branch.node === node) return branch;
    const record = await this.#recordAt(node.revision, signal);
    return { origin: branch.origin, node, record };
  }

  async #recordAt(place: number, signal?: AbortSignal): Promise<SessionRecord> {
    let revision = 0;
    for await (const lines of this.#lines(null, signal)) {
      const line = lines[place - revision - 1];
      if (line !== undefined) return decodeRecord(line);
      revision += lines.length;
    }
    throw new JournalReplacedError(this.#sessionId);
  }

  async #readOn(
    whole: boolean,
    signal?: AbortSignal,
    into?: SessionRecord[],
  ): Promise<JournalTree> {
    const tree = this.#tree ??= await this.#begin(whole, signal);
    for await (const lines of this.#lines(tree.position, signal)) {
      for (const line of lines) {
        const record = tree.read(line);
        this.#grow(record, line);
        into?.push(record);
      }
    }
    return tree;
  }

  #lines(
    after: JournalPosition | null,
    signal: AbortSignal | undefined,
  ): AsyncIterable<readonly string[]> {
    const pages = this.#backend.read(this.#sessionId, after, { signal });
    return abortableSteps(pages, signal);
  }

  async #begin(whole: boolean, signal?: AbortSignal): Promise<JournalTree> {
    const sessionId = this.#sessionId;
    const report = (finding: string) =>
      this.#logger.warn(finding, { sessionId });
    const search = whole
      ? undefined
      : this.#backend.findCheckpoint?.(sessionId, { signal });
    const found = search && await abortable(search, signal);
    if (!found) return new JournalTree(sessionId, report);
    const checkpoint = decodeRecord(found.line);
    if (!isCheckpointOfMain(checkpoint)) {
      return new JournalTree(sessionId, report);
    }
    this.#grow(checkpoint, found.line);
    return new JournalTree(sessionId, report, checkpoint);
  }

  #grow(record: SessionRecord, line: string): void {
    if (isCheckpointOfMain(record)) {
      this.#growth = {
        recordCount: 0,
        length: 0,
        checkpointLength: line.length,
      };
    } else if (isMain(record.branchId)) {
      this.#growth.recordCount += 1;
      this.#growth.length += line.length;
    }
  }

  async #explained(error: unknown, signal?: AbortSignal): Promise<Error> {
    const failure = readFailure(this.#sessionId, error);
    const isDamage = failure instanceof SessionSerializationError;
    if (!isDamage || failure.line === null) return failure;
    const { line } = failure;
    const offset = failure.offset ?? await this.#offsetOf(line, signal);
    const fileName = await this.#backend.nameOf?.(this.#sessionId);
    return withRemedy(failure.at(line, offset), fileName);
  }

  /** The byte at which a line begins. Only damage is worth reading everything for it. */
  async #offsetOf(
    line: number,
    signal?: AbortSignal,
  ): Promise<number | undefined> {
    const utf8 = new TextEncoder();
    let offset = 0;
    let revision = 0;
    try {
      for await (const lines of this.#lines(null, signal)) {
        for (const text of lines) {
          if (++revision === line) return offset;
          offset += utf8.encode(text).length + 1;
        }
      }
    } catch {
      // What is before a line that is no text cannot be measured in texts.
    }
    return undefined;
  }
}
