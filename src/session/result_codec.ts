import { frozen } from "../base/freeze.ts";
import {
  type AgentRunResult,
  type RunFailure,
  runFailure,
  type RunStatus,
  STATUS_OF_STOP_REASON,
} from "../messages/result.ts";
import { type RunUsage, runUsage } from "../messages/usage.ts";
import {
  readCount,
  readMember,
  readObject,
  readOptional,
  readText,
} from "./decode.ts";
import { SessionSerializationError } from "./errors.ts";

/** Makes a reader of results of a run. */
export function readResult(
  runId: string,
): (value: unknown, name: string) => AgentRunResult {
  return (value, name) => {
    const wire = readObject(value, name);
    const status = readMember(wire.status, `${name}.status`, statuses);
    return frozen({
      runId,
      status,
      stopReason: readMember(
        wire.stop_reason,
        `${name}.stop_reason`,
        STATUS_OF_STOP_REASON,
      ),
      turns: readCount(wire.turns, `${name}.turns`),
      output: readOptional(readText, wire.output, `${name}.output`),
      error: readOptional(readText, wire.error, `${name}.error`),
      usage: readUsage(wire.usage, `${name}.usage`),
      finishReason: null,
      compactionUsage: null,
      failure: readFailure(wire.failure),
      succeeded: status === "completed",
    });
  };
}

const statuses: Readonly<Record<RunStatus, true>> = {
  completed: true,
  failed: true,
  cancelled: true,
  rejected: true,
};

function readUsage(value: unknown, name: string): RunUsage {
  const wire = readObject(value, name);
  const count = (key: string) => readCount(wire[key], `${name}.${key}`);
  const optional = (key: string) =>
    readOptional(readCount, wire[key], `${name}.${key}`);
  try {
    return runUsage({
      inputTokens: count("input_tokens"),
      outputTokens: count("output_tokens"),
      totalTokens: count("total_tokens"),
      requestCount: count("request_count"),
      reportedRequestCount: count("reported_request_count"),
      cacheReadTokens: optional("cache_read_tokens"),
      cacheWriteTokens: optional("cache_write_tokens"),
      reasoningTokens: optional("reasoning_tokens"),
    });
  } catch (cause) {
    if (cause instanceof SessionSerializationError) throw cause;
    throw new SessionSerializationError(`${name} contradicts itself`, {
      cause,
    });
  }
}

// An addition to the schema: whatever is not what we write is as good as absent.
function readFailure(value: unknown): RunFailure | null {
  const failure = value as Partial<RunFailure> | null | undefined;
  if (
    typeof failure?.phase !== "string" || typeof failure.code !== "string" ||
    typeof failure.message !== "string" ||
    typeof failure.retryable !== "boolean"
  ) return null;
  const { phase, code, message, retryable } = failure;
  return runFailure({ phase, code, message, retryable });
}
