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
  #previous: ComparableCall | undefined;
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
    const current = new ComparableCall(call);
    const repeated = this.#previous?.equals(current) === true;
    this.#count = repeated ? this.#count + 1 : 1;
    this.#previous = current;
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

/** A call whose arguments are brought into a comparable form at most once. */
export class ComparableCall {
  readonly #call: ModelToolCall;
  #canonical: string | undefined;

  constructor(call: ModelToolCall) {
    this.#call = call;
  }

  /** True if both ask for the same tool with the same arguments. */
  equals(other: ComparableCall): boolean {
    const [left, right] = [this.#call, other.#call];
    if (left.name !== right.name) return false;
    return left.arguments === right.arguments ||
      this.#canonicalArguments() === other.#canonicalArguments();
  }

  #canonicalArguments(): string {
    return this.#canonical ??= canonical(this.#call.arguments);
  }
}

function canonical(text: string): string {
  if (text.trim() === "") return "{}";
  if (hasUnsafeNumber(text)) return text;
  try {
    return canonicalJson(JSON.parse(text));
  } catch {
    return text;
  }
}

/**
 * True if a number outside of texts may not survive as a double: it has more
 * than 15 digits or an exponent.
 *
 * Such numbers could look the same without being it, so their text decides.
 */
function hasUnsafeNumber(text: string): boolean {
  let digits = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!;
    if (character >= "0" && character <= "9") {
      if (++digits > 15) return true;
    } else if (character === "e" || character === "E") {
      if (digits > 0) return true;
    } else if (character !== ".") {
      digits = 0;
      if (character === '"') index = endOfText(text, index);
    }
  }
  return false;
}

function endOfText(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== '"') {
    index += text[index] === "\\" ? 2 : 1;
  }
  return index;
}
