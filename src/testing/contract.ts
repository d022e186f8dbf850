import { EJAgentError } from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";

/**
 * One promise of a port, as a test that any implementer can register with any
 * runner.
 */
export interface ContractCase {
  /** What is promised, in plain words. */
  readonly name: string;
  /** Checks it. @throws {ContractError} The promise is broken. */
  run(): Promise<void>;
}

/** An implementation breaks a promise of its port. */
export class ContractError extends EJAgentError {
  /** Always `"contract"`. */
  override readonly code = "contract";
}

/** Fails unless both are equal as JSON. */
export function expectEqual(
  actual: unknown,
  expected: unknown,
  what: string,
): void {
  const [found, wanted] = [canonicalJson(actual), canonicalJson(expected)];
  if (found === wanted) return;
  throw new ContractError(
    `${what}: expected ${shortened(wanted)}, got ${shortened(found)}`,
  );
}

/** Fails unless the condition holds. */
export function expect(condition: boolean, what: string): asserts condition {
  if (!condition) throw new ContractError(what);
}

/** Fails unless the work rejects with an error of the class. @returns The error. */
export async function expectRejection<E extends Error>(
  work: () => Promise<unknown>,
  // deno-lint-ignore no-explicit-any -- a class with any constructor, as `instanceof` accepts it
  type: abstract new (...args: any[]) => E,
): Promise<E> {
  let outcome: unknown;
  try {
    outcome = await work();
  } catch (error) {
    if (error instanceof type) return error;
    throw new ContractError(`Expected ${type.name}, got ${error}`, {
      cause: error,
    });
  }
  throw new ContractError(
    `Expected ${type.name}, got ${shortened(canonicalJson(outcome))}`,
  );
}

function shortened(text: string): string {
  return text.length <= 300
    ? text
    : `${text.slice(0, 300)}... (${text.length} characters)`;
}
