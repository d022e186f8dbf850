import type { AgentMessage } from "../messages/message.ts";
import { answeredPositions } from "./exchange.ts";

/** True for messages that are neither the user's, the model's nor a tool's. */
export function isBarrier({ role }: AgentMessage): boolean {
  return role !== "user" && role !== "assistant" && role !== "tool";
}

/** Length of the longest prefix of system messages. */
export function leadingSystemCount(messages: readonly AgentMessage[]): number {
  const count = messages.findIndex((message) => message.role !== "system");
  return count < 0 ? messages.length : count;
}

/**
 * The position behind the last barrier, or further on: behind the last result
 * of a call that stands before it.
 */
export function startBehindBarriers(messages: readonly AgentMessage[]): number {
  const lastBarrier = messages.findLastIndex(isBarrier);
  const answered = answeredPositions(messages);
  let start = lastBarrier + 1;
  for (let position = start; position < messages.length; position++) {
    if (answered[position]! < start) start = position + 1;
  }
  return start;
}

/** For every position, whether a cut before it leaves all calls with their results. */
export function safeCuts(
  messages: readonly AgentMessage[],
): readonly boolean[] {
  const safe: boolean[] = [];
  const answered = answeredPositions(messages);
  let earliest = Infinity;
  for (let position = messages.length - 1; position >= 0; position--) {
    earliest = Math.min(earliest, answered[position]!);
    safe[position] = earliest >= position;
  }
  return safe;
}
