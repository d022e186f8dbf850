import type { AgentSession } from "../session/session.ts";
import { sessionToJson } from "../session/session_codec.ts";
import { JournalTreeStorage } from "../session/tree_storage.ts";
import { s } from "./session_drafts.ts";

/** A storage on a fresh, empty medium, and what can be done to it. */
export interface StorageUnderTest {
  /** The storage. */
  readonly storage: JournalTreeStorage;
  /**
   * Another storage over the same medium, as another program would open it.
   *
   * @default {a new storage over the same backend}
   */
  reopen?(): JournalTreeStorage | Promise<JournalTreeStorage>;
  /**
   * Makes the second line of a stored journal unreadable, on the medium itself.
   * Omit it for media whose lines nobody can change.
   */
  corrupt?(sessionId: string): void | Promise<void>;
  /** Releases the medium. */
  close?(): void | Promise<void>;
}

/** Checks one promise of a storage. */
export type StorageCheck = (subject: StorageUnderTest) => Promise<void>;

/** The storage of another program over the same medium. */
export async function otherProgram(
  { storage, reopen }: StorageUnderTest,
): Promise<JournalTreeStorage> {
  return await reopen?.() ?? new JournalTreeStorage(storage.backend);
}

/** The runs of a branch, oldest first. */
export async function runIds(
  storage: JournalTreeStorage,
  branchId: string,
): Promise<string[]> {
  const checkout = await storage.checkout(s, { branchId });
  return checkout!.session.runs.map(({ runId }) => runId);
}

/** A session as JSON. */
export function documentOf(session: AgentSession | null): unknown {
  return session === null ? null : sessionToJson(session);
}
