/**
 * A reader of session journals that was written from the description of the format alone.
 *
 * It shares nothing with the package: it replays every branch from its root, with plain mutable
 * objects, and is as strict as the format is. What it accepts, any careful reader accepts.
 *
 * @module
 */

type Json = Record<string, unknown>;

/** What a journal says, in the words of the journal. */
export interface ReadJournal {
  /** All branches in the order of their creation. */
  readonly branches: readonly Json[];
  /** The newest record of each branch, without its data. */
  readonly heads: Readonly<Record<string, Json>>;
  /** The session document of each branch. */
  readonly sessions: Readonly<Record<string, Json>>;
  /** The conversation of each branch. */
  readonly messages: Readonly<Record<string, readonly unknown[]>>;
  /** All records, without their data. */
  readonly records: readonly Json[];
}

/** Thrown for a journal that must not be accepted. */
export class JournalDamage extends Error {}

/** Reads the bytes of a journal. */
export function readJournal(bytes: Uint8Array): ReadJournal {
  const records = committedLines(bytes).map(parseRecord);
  const byId = new Map<string, Json>();
  const branches = new Map<string, Json>();
  records.forEach((record, index) => {
    demand(record.revision === index + 1, "revision");
    demand(record.session_id === records[0]!.session_id, "session_id");
    demand(!byId.has(record.record_id as string), "record_id is repeated");
    place(record, byId, branches);
    byId.set(record.record_id as string, record);
    replay(record, byId);
  });
  const entries = [...branches.values()].map((branch) => {
    const head = byId.get(branch.head_record_id as string)!;
    return {
      id: branch.branch_id as string,
      head,
      session: replay(head, byId),
    };
  });
  return {
    branches: [...branches.values()],
    heads: Object.fromEntries(
      entries.map(({ id, head }) => [id, withoutData(head)]),
    ),
    sessions: Object.fromEntries(
      entries.map(({ id, session }) => [id, documentOf(session)]),
    ),
    messages: Object.fromEntries(
      entries.map(({ id, session }) => [id, conversation(session)]),
    ),
    records: records.map(withoutData),
  };
}

function committedLines(bytes: Uint8Array): string[] {
  const end = bytes.lastIndexOf(10);
  if (end === -1) return [];
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      bytes.subarray(0, end),
    );
  } catch {
    throw new JournalDamage("not UTF-8");
  }
  return text.split("\n");
}

const kinds = [
  "checkpoint",
  "branch_created",
  "run_started",
  "run_continued",
  "message_appended",
  "messages_appended",
  "steering_applied",
  "compaction_applied",
  "run_finished",
];

function parseRecord(line: string): Json {
  let record: Json;
  try {
    record = JSON.parse(line);
  } catch {
    throw new JournalDamage("not JSON");
  }
  demand(isObject(record), "record");
  demand(record.journal_schema_version === 1, "journal_schema_version");
  demand(isFilled(record.record_id), "record_id");
  demand(record.parent_id === null || isFilled(record.parent_id), "parent_id");
  demand(isFilled(record.branch_id), "branch_id");
  demand(isFilled(record.session_id), "session_id");
  demand(isCount(record.sequence), "sequence");
  demand(kinds.includes(record.type as string), "type");
  demand(isObject(record.data), "data");
  const isFree = record.type === "checkpoint" ||
    record.type === "branch_created";
  demand(
    isFilled(record.agent_id) || (isFree && record.agent_id === null),
    "agent_id",
  );
  return record;
}

function place(
  record: Json,
  byId: Map<string, Json>,
  branches: Map<string, Json>,
): void {
  const { branch_id: id, parent_id: parent, record_id: recordId } =
    record as Record<string, string>;
  if (record.type === "branch_created") {
    const data = record.data as Json;
    demand(id !== "main" && !branches.has(id!), "branch exists");
    demand(
      ["fork", "rollback", "retry"].includes(data.intent as string),
      "intent",
    );
    const isRetry = data.intent === "retry";
    demand(isRetry === isFilled(data.retried_run_id), "retried_run_id");
    const source = branches.get(data.source_branch_id as string);
    demand(source !== undefined, "source branch");
    demand(source!.head_record_id === data.source_head_id, "source head");
    demand(data.base_record_id === parent, "base");
    if (parent === null) demand(isRetry, "base of a branch that is no retry");
    else {demand(
        chain(byId.get(source!.head_record_id as string)!, byId).some((one) =>
          one.record_id === parent
        ),
        "ancestor",
      );}
    branches.set(id!, {
      branch_id: id,
      head_record_id: recordId,
      base_record_id: parent,
      source_branch_id: data.source_branch_id,
      intent: data.intent,
      created_revision: record.revision,
    });
    return;
  }
  const branch = branches.get(id!);
  if (branch === undefined) {
    demand(
      id === "main" && parent === null && record.revision === 1,
      "unknown branch",
    );
    branches.set("main", {
      branch_id: "main",
      head_record_id: recordId,
      base_record_id: null,
      source_branch_id: null,
      intent: null,
      created_revision: 1,
    });
    return;
  }
  demand(parent === branch.head_record_id, "parent is not the head");
  branch.head_record_id = recordId;
}

/** A record and its ancestors, from the root on. */
function chain(record: Json, byId: Map<string, Json>): Json[] {
  const found = [record];
  for (let id = record.parent_id; id !== null; id = found[0]!.parent_id) {
    const parent = byId.get(id as string);
    demand(parent !== undefined, "parent");
    found.unshift(parent!);
  }
  return found;
}

interface Session {
  session_id: unknown;
  agent_id: unknown;
  entries: Json[];
  runs: Json[];
  compactions: Json[];
}

function replay(record: Json, byId: Map<string, Json>): Session {
  let session: Session = {
    session_id: record.session_id,
    agent_id: null,
    entries: [],
    runs: [],
    compactions: [],
  };
  for (const one of chain(record, byId)) session = apply(session, one);
  return session;
}

function apply(session: Session, record: Json): Session {
  const data = structuredClone(record.data) as Json;
  const sequence = record.sequence as number;
  if (record.agent_id !== null) {
    demand(
      session.agent_id === null || session.agent_id === record.agent_id,
      "agent changes",
    );
    session.agent_id = record.agent_id;
  }
  switch (record.type) {
    case "checkpoint":
      return fromDocument(data.document as Json, record);
    case "run_started":
      demand(typeof data.task === "string", "task");
      beginRun(session, data.run_id, {
        task: data.task,
        intent: "task",
        start_sequence: sequence,
      });
      addMessage(session, data.run_id, sequence, {
        role: "user",
        content: data.content ?? data.task,
      });
      break;
    case "run_continued":
      beginRun(session, data.run_id, {
        task: null,
        intent: "continue",
        start_sequence: sequence,
      });
      break;
    case "message_appended":
      demand(isObject(data.message), "message");
      addMessage(session, data.run_id, sequence, data.message as Json);
      break;
    case "messages_appended":
      demand(
        Array.isArray(data.messages) && data.messages.every(isObject),
        "messages",
      );
      for (const message of data.messages as Json[]) {
        addMessage(session, data.run_id, sequence, message);
      }
      break;
    case "steering_applied":
      demand(
        typeof data.input_id === "string" && typeof data.content === "string",
        "steering",
      );
      demand(
        isCount(data.target_turn) && data.target_turn as number > 0,
        "target_turn",
      );
      addMessage(session, data.run_id, sequence, {
        role: "user",
        content: data.content,
      });
      break;
    case "compaction_applied": {
      const { operation_id: id } = data;
      demand(
        isFilled(id) &&
          session.compactions.every((one) => one.operation_id !== id),
        "operation",
      );
      session.compactions.push(checkCompaction({
        operation_id: id,
        sequence,
        summary: data.summary,
        messages: data.messages,
        covered_entry_count: session.entries.length,
      }));
      break;
    }
    case "run_finished": {
      const run = openRun(session, data.run_id);
      demand(sequence > lastSequence(session, run), "finish sequence");
      run.finish_sequence = sequence;
      run.result = checkResult(data.result as Json);
    }
  }
  return session;
}

function beginRun(session: Session, runId: unknown, facts: Json): void {
  demand(
    isFilled(runId) && session.runs.every((run) => run.run_id !== runId),
    "run exists",
  );
  demand(session.runs.every((run) => run.result !== null), "a run is open");
  demand(facts.start_sequence as number > 0, "start sequence");
  session.runs.push({
    run_id: runId,
    ...facts,
    finish_sequence: null,
    result: null,
  });
}

function openRun(session: Session, runId: unknown): Json {
  const run = session.runs.find((one) => one.run_id === runId);
  demand(run !== undefined, "unknown run");
  demand(run!.result === null, "finished run");
  return run!;
}

function lastSequence(session: Session, run: Json): number {
  const sequences = session.entries
    .filter((entry) => entry.run_id === run.run_id)
    .map((entry) => entry.sequence as number);
  return sequences.length === 0
    ? run.start_sequence as number
    : Math.max(...sequences);
}

function addMessage(
  session: Session,
  runId: unknown,
  sequence: number,
  message: Json,
): void {
  demand(
    sequence >= lastSequence(session, openRun(session, runId)),
    "sequence went back",
  );
  session.entries.push({ run_id: runId, sequence, message });
}

const statuses = ["completed", "failed", "cancelled", "rejected"];
const stopReasons = [
  "text_response",
  "tool_completion",
  "tool_rejected",
  "tool_cancelled",
  "behavior_stop",
  "external_abort",
  "empty_response",
  "max_steps",
  "max_no_tool_responses",
  "repeated_tool_call",
  "token_budget_exceeded",
  "usage_unavailable",
  "context_overflow",
  "compaction_failed",
  "runtime_error",
];

function checkResult(result: Json): Json {
  demand(isObject(result), "result");
  demand(statuses.includes(result.status as string), "status");
  demand(stopReasons.includes(result.stop_reason as string), "stop_reason");
  demand(isCount(result.turns), "turns");
  const usage = result.usage as Json;
  demand(isObject(usage), "usage");
  const count = (key: string) => {
    demand(isCount(usage[key]), key);
    return usage[key] as number;
  };
  const input = count("input_tokens");
  const output = count("output_tokens");
  demand(count("total_tokens") === input + output, "total_tokens");
  demand(count("reported_request_count") <= count("request_count"), "requests");
  const part = (key: string, whole: number) => {
    if (usage[key] !== null && usage[key] !== undefined) {
      demand(count(key) <= whole, key);
    }
    return usage[key] ?? null;
  };
  return {
    status: result.status,
    stop_reason: result.stop_reason,
    turns: result.turns,
    output: optionalText(result.output),
    error: optionalText(result.error),
    usage: {
      input_tokens: input,
      output_tokens: output,
      total_tokens: input + output,
      request_count: usage.request_count,
      reported_request_count: usage.reported_request_count,
      cache_read_tokens: part("cache_read_tokens", input),
      cache_write_tokens: part("cache_write_tokens", input),
      reasoning_tokens: part("reasoning_tokens", output),
    },
  };
}

function checkCompaction(compaction: Json): Json {
  const { messages, summary, sequence, covered_entry_count: covered } =
    compaction;
  demand(
    Array.isArray(messages) && messages.length > 0 && messages.every(isObject),
    "messages",
  );
  demand(
    isCount(sequence) && sequence as number > 0 && isCount(covered),
    "compaction",
  );
  const { history_start_index: start, first_kept_index: kept, ...rest } =
    summary as Json;
  demand(isFilled(rest.content) && isFilled(rest.source), "summary");
  demand(
    isCount(start) && isCount(kept) && (kept as number) > (start as number),
    "summary range",
  );
  demand(
    isCount(rest.summarized_message_count) &&
      rest.summarized_message_count !== 0,
    "summary",
  );
  demand(isCount(rest.tokens_before), "tokens_before");
  return {
    ...compaction,
    summary: {
      content: rest.content,
      source: rest.source,
      history_start_index: start,
      first_kept_index: kept,
      summarized_message_count: rest.summarized_message_count,
      tokens_before: rest.tokens_before,
    },
  };
}

function fromDocument(document: Json, record: Json): Session {
  demand(isObject(document) && document.schema_version === 1, "schema_version");
  const session = document.session as Json;
  demand(session.session_id === record.session_id, "session of the checkpoint");
  demand(
    (session.agent_id ?? null) === record.agent_id,
    "agent of the checkpoint",
  );
  const list = (key: string) => {
    demand(Array.isArray(session[key]), key);
    return session[key] as Json[];
  };
  const entries = list("entries").map(({ run_id, sequence, message }) => {
    demand(
      isFilled(run_id) && isCount(sequence) && sequence !== 0 &&
        isObject(message),
      "entry",
    );
    return { run_id, sequence, message };
  });
  const runs = list("runs").map((run) => {
    const intent = run.intent ?? "task";
    const task = optionalText(run.task);
    demand(intent === "task" || intent === "continue", "intent");
    demand((intent === "task") === (task !== null), "task");
    const finish = run.finish_sequence ?? null;
    const result = run.result === null || run.result === undefined
      ? null
      : checkResult(run.result as Json);
    demand((finish === null) === (result === null), "finish");
    if (finish !== null) {
      demand((finish as number) > (run.start_sequence as number), "finish");
    }
    return {
      run_id: run.run_id,
      task,
      intent,
      start_sequence: run.start_sequence,
      finish_sequence: finish,
      result,
    };
  });
  const compactions = list("compactions").map((one) =>
    checkCompaction({
      operation_id: one.operation_id,
      sequence: one.sequence,
      summary: one.summary,
      messages: one.messages,
      covered_entry_count: one.covered_entry_count,
    })
  );
  const tooMuch = compactions.some((one) =>
    (one.covered_entry_count as number) > entries.length
  );
  demand(!tooMuch, "covered_entry_count");
  const { session_id, agent_id = null } = session;
  return { session_id, agent_id, entries, runs, compactions };
}

function documentOf(session: Session): Json {
  return { schema_version: 1, session };
}

function conversation({ entries, compactions }: Session): unknown[] {
  const latest = compactions.at(-1);
  const added = entries.slice(latest?.covered_entry_count as number ?? 0);
  return [
    ...(latest?.messages as unknown[] ?? []),
    ...added.map((entry) => entry.message),
  ];
}

/** The members that a record must have, without its data. */
function withoutData(record: Json): Json {
  const { journal_schema_version, record_id, parent_id, branch_id, revision } =
    record;
  const { session_id, agent_id, sequence, type } = record;
  return {
    journal_schema_version,
    record_id,
    parent_id,
    branch_id,
    revision,
    session_id,
    agent_id,
    sequence,
    type,
  };
}

function optionalText(value: unknown): string | null {
  demand(
    value === null || value === undefined || typeof value === "string",
    "text",
  );
  return value as string | null ?? null;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isFilled(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "";
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && value as number >= 0;
}

function demand(condition: boolean, what: string): asserts condition {
  if (!condition) throw new JournalDamage(what);
}
