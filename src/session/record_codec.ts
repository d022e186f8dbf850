import { deepFreeze } from "../base/freeze.ts";
import { canonicalText, isDeeperThan } from "./canonical.ts";
import {
  readCount,
  readMember,
  readMessage,
  readMessages,
  readName,
  readObject,
  readOptional,
  readPositive,
  readText,
  readVersion,
} from "./decode.ts";
import { SessionSerializationError } from "./errors.ts";
import {
  isStructural,
  RECORD_KINDS,
  SESSION_JOURNAL_SCHEMA_VERSION,
  type SessionBranchIntent,
  type SessionRecord,
  type SessionRecordKind,
} from "./record.ts";

/**
 * A record as a line of a journal, without its line feed.
 *
 * Equal records give equal lines: keys are sorted, white space is absent.
 *
 * @throws {SessionSerializationError} Its data is not JSON.
 */
export function sessionRecordToJson(record: SessionRecord): string {
  return encodeRecord(record);
}

/**
 * The record of a line of a journal.
 *
 * The line is looked at alone: whether the record fits into a journal is not checked.
 *
 * @throws {SessionSerializationError} It is no record of schema version 1.
 */
export function sessionRecordFromJson(line: string): SessionRecord {
  return deepFreeze(decodeRecord(line));
}

/**
 * The canonical text of the data of a record.
 *
 * @param maxDepth How deep it may be nested.
 * @throws {SessionSerializationError} It is not JSON.
 */
export function encodeData(
  data: SessionRecord["data"],
  maxDepth?: number,
): string {
  return canonicalText(data, { name: "The data of a record", maxDepth });
}

/**
 * The line of a record, without its line feed; equal records give equal lines.
 *
 * @param dataText The canonical text of its data, if it is known.
 * @throws {SessionSerializationError} Its data is not JSON.
 */
export function encodeRecord(
  record: SessionRecord,
  dataText: string = encodeData(record.data),
): string {
  // The members stand in the order of their names.
  return `{"agent_id":${JSON.stringify(record.agentId)}` +
    `,"branch_id":${JSON.stringify(record.branchId)}` +
    (record.createdAt === null
      ? ""
      : `,"created_at":${JSON.stringify(record.createdAt)}`) +
    `,"data":${dataText}` +
    `,"journal_schema_version":${SESSION_JOURNAL_SCHEMA_VERSION}` +
    `,"parent_id":${JSON.stringify(record.parentId)}` +
    `,"record_id":${JSON.stringify(record.recordId)}` +
    `,"revision":${record.revision}` +
    `,"sequence":${record.sequence}` +
    `,"session_id":${JSON.stringify(record.sessionId)}` +
    `,"type":${JSON.stringify(record.kind)}}`;
}

/** More than any implementation writes, and less than what overflows a stack. */
const maxLineDepth = 1000;

/**
 * Reads a line of a journal.
 *
 * What it gives is not frozen yet: most of it never leaves the storage.
 *
 * @throws {SessionSerializationError} It is no record of schema version 1.
 */
export function decodeRecord(line: string): SessionRecord {
  const wire = readObject(parse(line), "A journal record");
  if (line.length > 2 * maxLineDepth && isDeeperThan(wire, maxLineDepth)) {
    throw new SessionSerializationError(
      `The record is nested more than ${maxLineDepth} levels deep`,
    );
  }
  readVersion(
    wire.journal_schema_version,
    "journal_schema_version",
    SESSION_JOURNAL_SCHEMA_VERSION,
  );
  const record = {
    recordId: readName(wire.record_id, "record_id"),
    parentId: readOptional(readName, wire.parent_id, "parent_id"),
    branchId: readName(wire.branch_id, "branch_id"),
    revision: readPositive(wire.revision, "revision"),
    sessionId: readName(wire.session_id, "session_id"),
    agentId: readOptional(readName, wire.agent_id, "agent_id"),
    sequence: readCount(wire.sequence, "sequence"),
    createdAt: typeof wire.created_at === "string" ? wire.created_at : null,
    kind: readMember(wire.type, "type", RECORD_KINDS),
    data: wire.data,
  } as SessionRecord;
  checkRecord(record);
  return record;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new SessionSerializationError("The line is not JSON", { cause });
  }
}

/** Checks what depends on the kind. @throws {SessionSerializationError} */
export function checkRecord(
  { kind, agentId, data }: Pick<SessionRecord, "kind" | "agentId" | "data">,
): void {
  if (agentId === null && !isStructural(kind)) {
    throw new SessionSerializationError(
      `A record of type ${kind} must have an agent_id`,
    );
  }
  dataChecks[kind](readObject(data, "data"));
}

const dataChecks: Readonly<
  Record<SessionRecordKind, (data: Record<string, unknown>) => void>
> = {
  checkpoint(data) {
    readObject(data.document, "data.document");
  },
  branch_created(data) {
    readText(data.source_branch_id, "data.source_branch_id");
    readText(data.source_head_id, "data.source_head_id");
    const intent = readMember(data.intent, "data.intent", branchIntents);
    const base = readOptional(
      readText,
      data.base_record_id,
      "data.base_record_id",
    );
    const run = readOptional(
      readText,
      data.retried_run_id,
      "data.retried_run_id",
    );
    if (intent === "retry" ? !run : run !== null) {
      throw new SessionSerializationError(
        "data.retried_run_id must be given exactly for a retry",
      );
    }
    if (base === null && intent !== "retry") {
      throw new SessionSerializationError(
        "data.base_record_id must be given except for a retry",
      );
    }
  },
  run_started(data) {
    readText(data.run_id, "data.run_id");
    readText(data.task, "data.task");
  },
  run_continued(data) {
    readText(data.run_id, "data.run_id");
  },
  message_appended(data) {
    readText(data.run_id, "data.run_id");
    readMessage(data.message, "data.message");
  },
  messages_appended(data) {
    readText(data.run_id, "data.run_id");
    readMessages(data.messages, "data.messages");
  },
  steering_applied(data) {
    readText(data.run_id, "data.run_id");
    readText(data.input_id, "data.input_id");
    readText(data.content, "data.content");
    readPositive(data.target_turn, "data.target_turn");
  },
  compaction_applied(data) {
    readText(data.operation_id, "data.operation_id");
    readMessages(data.messages, "data.messages", 1);
  },
  run_finished(data) {
    readText(data.run_id, "data.run_id");
    readObject(data.result, "data.result");
  },
};

const branchIntents: Readonly<Record<SessionBranchIntent, true>> = {
  fork: true,
  rollback: true,
  retry: true,
};
