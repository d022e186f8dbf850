import { canonicalJson } from "../base/json.ts";
import type { ModelToolCall } from "../messages/tool.ts";

/**
 * Stops a model that asks for the same call again and again.
 *
 * Counts how often in a row the same tool was requested with the same
 * arguments; key order and white space do not matter.
 */
export class RepetitionGuard {
  /** The request that reaches it is refused. */
  readonly limit: number;
  #previous: ModelToolCall | undefined;
  #count = 0;

  /** @param limit At least 2, or infinite for no guard at all. */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Forgets what was requested. */
  reset(): void {
    this.#previous = undefined;
    this.#count = 0;
  }

  /** Counts a call. @returns True if it must not be executed. */
  refuses(call: ModelToolCall): boolean {
    if (this.limit === Infinity) return false;
    const repeated = this.#previous !== undefined &&
      isSameCall(this.#previous, call);
    this.#count = repeated ? this.#count + 1 : 1;
    this.#previous = call;
    return this.#count >= this.limit;
  }

  /**
   * Counts calls that are to run side by side, all or none of them.
   *
   * @param calls In source order.
   * @returns False, and nothing is counted, if one of them would be refused.
   */
  reserve(calls: readonly ModelToolCall[]): boolean {
    const previous = this.#previous;
    const count = this.#count;
    if (!calls.some((call) => this.refuses(call))) return true;
    this.#previous = previous;
    this.#count = count;
    return false;
  }
}

/** True if both calls ask for the same tool with the same arguments. */
export function isSameCall(left: ModelToolCall, right: ModelToolCall): boolean {
  if (left.name !== right.name) return false;
  return left.arguments === right.arguments ||
    canonicalArguments(left.arguments) === canonicalArguments(right.arguments);
}

// Numbers that a double cannot tell apart would make different calls look the
// same, so a text with such a number is only equal to itself.
const unsafeNumber = /\d(?:\.?\d){15,}|[eE][+-]?\d{3,}/;
const stringLiteral = /"(?:[^"\\]|\\.)*"/g;

function canonicalArguments(text: string): string {
  if (text.trim() === "") return "{}";
  if (unsafeNumber.test(text.replace(stringLiteral, '""'))) return text;
  try {
    return canonicalJson(JSON.parse(text));
  } catch {
    return text;
  }
}
