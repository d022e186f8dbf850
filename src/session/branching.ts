import { requireTask, type TaskInput } from "../messages/content.ts";
import { SessionArgumentError, SessionSerializationError } from "./errors.ts";
import type { BranchCreatedData, SessionBranchIntent } from "./record.ts";
import type { SessionRunIntent } from "./state.ts";
import { findItem, lastItem } from "./strand.ts";
import {
  isAncestor,
  type JournalTree,
  type TreeBranch,
  type TreeNode,
} from "./tree.ts";

/** A branch to be made. */
export interface NewBranch {
  readonly sourceBranch: string;
  readonly branchId: string;
}

/** A branch to be made from a record. */
export interface NewBranchFrom extends NewBranch {
  readonly intent: Exclude<SessionBranchIntent, "retry">;
  /** The record; undefined for the head of the source. */
  readonly baseId: string | undefined;
}

/** What the first record of a new branch says. */
export interface BranchFacts {
  readonly kind: "branch_created";
  readonly branchId: string;
  readonly agentId: string | null;
  readonly sequence: 0;
  readonly data: BranchCreatedData;
}

/** The first record of a branch that goes on from another. @throws {SessionArgumentError} */
export function planBranch(
  tree: JournalTree,
  wish: NewBranchFrom,
): BranchFacts {
  const { intent, baseId } = wish;
  const source = requireSource(tree, wish);
  const base = baseId === undefined ? source.node : requireNode(tree, baseId);
  if (!isAncestor(base, source.node)) {
    throw new SessionArgumentError(
      "not_an_ancestor",
      `Record "${base.recordId}" is not an ancestor of branch "${wish.sourceBranch}"; ` +
        `it is on branch "${base.branchId}", so name that as sourceBranch`,
    );
  }
  const unfinished = base.state.openRuns.map((run) => run.runId);
  if (unfinished.length > 0) {
    throw new SessionArgumentError(
      "unfinished_run",
      `Cannot branch from record "${base.recordId}" with unfinished run(s): ${
        unfinished.join(", ")
      }; recover the run first, or name a record before it`,
    );
  }
  return factsOf(wish, {
    agentId: base.state.agentId,
    data: {
      base_record_id: base.recordId,
      source_branch_id: source.origin.branchId,
      source_head_id: source.node.recordId,
      intent,
    },
  });
}

/** The first record of a branch that ends right before a run, and the task of the run. */
export interface RetryPlan {
  readonly facts: BranchFacts;
  readonly task: TaskInput;
}

/**
 * The plan of a branch on which a run is to be repeated.
 *
 * @throws {SessionArgumentError} The run is not there or had no task of its own.
 * @throws {SessionSerializationError} Its task is empty.
 */
export function planRetry(
  tree: JournalTree,
  wish: NewBranch & { readonly runId: string },
): RetryPlan {
  const { runId } = wish;
  const source = requireSource(tree, wish);
  const start = findStart(source.node, runId);
  if (start === null) throw notRetryable(source.node, wish);
  const base = start.parent;
  const facts = factsOf(wish, {
    agentId: base?.state.agentId ?? source.node.state.agentId,
    data: {
      base_record_id: base?.recordId ?? null,
      source_branch_id: source.origin.branchId,
      source_head_id: source.node.recordId,
      intent: "retry",
      retried_run_id: runId,
    },
  });
  return { facts, task: taskOf(start, runId) };
}

function factsOf(
  { branchId }: NewBranch,
  facts: Pick<BranchFacts, "agentId" | "data">,
): BranchFacts {
  return { kind: "branch_created", branchId, sequence: 0, ...facts };
}

function requireSource(
  tree: JournalTree,
  { sourceBranch, branchId }: NewBranch,
): TreeBranch {
  const source = tree.branch(sourceBranch);
  if (source === undefined) throw unknownBranch(tree, sourceBranch);
  if (tree.branch(branchId) !== undefined) {
    throw new SessionArgumentError(
      "branch_exists",
      `Branch "${branchId}" already exists`,
    );
  }
  return source;
}

function requireNode(tree: JournalTree, recordId: string): TreeNode {
  const node = tree.node(recordId);
  if (node === undefined) throw unknownRecord(tree.sessionId, recordId);
  return node;
}

/** For a branch that the session does not have, or a session that is not there. */
export function unknownBranch(
  { sessionId, position, branches }: JournalTree,
  branchId: string,
): SessionArgumentError {
  return new SessionArgumentError(
    "unknown_branch",
    position === null
      ? `There is no session "${sessionId}", so it has no branch "${branchId}"`
      : `Session "${sessionId}" has no branch "${branchId}", only ${
        listed(branches)
      }; make it with fork() first`,
  );
}

const maxListedBranches = 5;

function listed(branches: readonly TreeBranch[]): string {
  const names = branches.map(({ origin }) => `"${origin.branchId}"`);
  const moreCount = names.length - maxListedBranches;
  return names.slice(0, maxListedBranches).join(", ") +
    (moreCount > 0 ? ` and ${moreCount} more` : "");
}

/** For a record that the session does not have. */
export function unknownRecord(
  sessionId: string,
  recordId: string,
): SessionArgumentError {
  return new SessionArgumentError(
    "unknown_record",
    `Session "${sessionId}" has no record "${recordId}"`,
  );
}

function findStart(head: TreeNode, runId: string): TreeNode | null {
  for (let node: TreeNode | null = head; node !== null; node = node.parent) {
    if (
      node.kind === "run_started" &&
      lastItem(node.state.starts)?.runId === runId
    ) return node;
  }
  return null;
}

function taskOf(start: TreeNode, runId: string): TaskInput {
  const message = lastItem(start.state.entries)?.message;
  try {
    return requireTask(message?.content);
  } catch (cause) {
    throw new SessionSerializationError(`The task of run "${runId}" is empty`, {
      cause,
    });
  }
}

function notRetryable(
  { state }: TreeNode,
  { sourceBranch, runId }: NewBranch & { readonly runId: string },
): SessionArgumentError {
  const intent: SessionRunIntent | undefined = findItem(state.starts, runId)
    ?.intent;
  switch (intent) {
    case undefined:
      return new SessionArgumentError(
        "unknown_run",
        `Branch "${sourceBranch}" of session "${state.sessionId}" has no run "${runId}"`,
      );
    case "continue":
      return new SessionArgumentError(
        "run_not_retryable",
        `Run "${runId}" went on without a task of its own; retry the run before it`,
        "continue_run",
      );
    case "task":
      return new SessionArgumentError(
        "run_not_retryable",
        `Run "${runId}" is known from a checkpoint alone, not by its records`,
        "inside_checkpoint",
      );
  }
}
