import type { AgentSession } from "../../src/session/session.ts";
import type { ObjectFacts } from "./object_facts.ts";

const key = "resume_attempts";
const maxAttemptCount = 6;
const maxInterruptionCount = 3;

/**
 * Counts in the object's own table how often a run was to go on without having
 * begun, so that an agent that never starts does not wake its object for ever.
 */
export class ResumeAttempts {
  readonly #facts: ObjectFacts;

  /** @param facts Where the number is kept. */
  constructor(facts: ObjectFacts) {
    this.#facts = facts;
  }

  /** Counts one more. @returns How many there were before; null if there may be no more. */
  begin(): number | null {
    const count = Number(this.#facts.get(key) ?? 0);
    if (count >= maxAttemptCount) return null;
    this.#facts.set(key, String(count + 1));
    return count;
  }

  /** A run has begun. */
  reset(): void {
    this.#facts.set(key, null);
  }
}

/**
 * True if a session ends with a run that was interrupted and has something left
 * to do: not if its last message is an answer without calls, and not after
 * interruptions again and again.
 */
export function isToBeResumed(session: AgentSession | null): boolean {
  const runs = session?.runs.slice(-maxInterruptionCount) ?? [];
  if (!runs.at(-1)?.recovery) return false;
  const isHopeless = runs.length === maxInterruptionCount &&
    runs.every((run) => run.recovery !== null);
  const last = session!.messages.at(-1);
  const isAnswered = last?.role === "assistant" && !last.tool_calls?.length;
  return !isHopeless && !isAnswered;
}
