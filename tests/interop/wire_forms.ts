import type { SessionRecord } from "../../src/session/record.ts";
import type { AgentSession } from "../../src/session/session.ts";
import { sessionToJson } from "../../src/session/session_codec.ts";
import type { SessionCheckout } from "../../src/session/storage.ts";
import type { SessionBranch } from "../../src/session/tree.ts";
import type { Json } from "./python_journals.ts";

/** A session as fixtures hold it: without what this package adds to results. */
export function wireSession(session: AgentSession): Json {
  const document = structuredClone(sessionToJson(session)) as Json;
  for (const { result } of document.session.runs) delete result?.failure;
  return document;
}

/** A branch as fixtures hold it. */
export function wireBranch(branch: SessionBranch): Json {
  return {
    branch_id: branch.branchId,
    head_record_id: branch.headRecordId,
    base_record_id: branch.baseRecordId,
    source_branch_id: branch.sourceBranchId,
    intent: branch.intent,
    created_revision: branch.createdRevision,
  };
}

/** A record as fixtures hold it: without its data. */
export function wireRecord(record: SessionRecord): Json {
  return {
    journal_schema_version: 1,
    record_id: record.recordId,
    parent_id: record.parentId,
    branch_id: record.branchId,
    revision: record.revision,
    session_id: record.sessionId,
    agent_id: record.agentId,
    sequence: record.sequence,
    type: record.kind,
  };
}

/** A checkout as fixtures hold it. */
export function wireCheckout(checkout: SessionCheckout | null): Json {
  if (checkout === null) return null;
  return {
    branch: wireBranch(checkout.branch),
    head: wireRecord(checkout.head),
    session: wireSession(checkout.session),
    messages: checkout.session.messages,
  };
}
