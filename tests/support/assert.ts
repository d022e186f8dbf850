import { equal } from "./equal.ts";
import { format, formatDifference } from "./format.ts";

/** What a failed assertion throws. */
export class AssertionError extends Error {
  override name = "AssertionError";
}

// deno-lint-ignore no-explicit-any -- a class with any constructor, as `instanceof` accepts it
type ErrorClass<E extends Error> = abstract new (...args: any[]) => E;

/** Fails the test. */
export function fail(message: string): never {
  throw new AssertionError(message);
}

/** Fails unless the condition is truthy. */
export function assert(
  condition: unknown,
  message?: string,
): asserts condition {
  if (!condition) {
    fail(message ?? `Expected a truthy value, got ${format(condition)}`);
  }
}

/** Fails unless both are equal in structure; the message shows what differs line by line. */
export function assertEquals<T>(
  actual: T,
  expected: T,
  message?: string,
): void {
  if (equal(actual, expected)) return;
  const title = message ?? "Values are not equal";
  fail(
    `${title} (- expected, + actual)\n${formatDifference(actual, expected)}`,
  );
}

/** Fails if both are equal in structure. */
export function assertNotEquals<T>(
  actual: T,
  unexpected: T,
  message?: string,
): void {
  if (!equal(actual, unexpected)) return;
  fail(`${message ?? "Expected a value other than"} ${format(unexpected)}`);
}

/** Fails unless both are the same value or the same object. */
export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  message?: string,
): asserts actual is T {
  if (Object.is(actual, expected)) return;
  const title = message ?? "Values are not the same";
  if (equal(actual, expected)) {
    fail(`${title}: equal in structure but two objects`);
  }
  fail(
    `${title} (- expected, + actual)\n${formatDifference(actual, expected)}`,
  );
}

/** Fails unless the text matches. */
export function assertMatch(
  actual: string,
  pattern: RegExp,
  message?: string,
): void {
  if (new RegExp(pattern.source, pattern.flags).test(actual)) return;
  fail(`${message ?? "Text does not match"} ${pattern}: ${format(actual)}`);
}

/** Fails unless the text contains the part. */
export function assertStringIncludes(
  actual: string,
  part: string,
  message?: string,
): void {
  if (actual.includes(part)) return;
  fail(
    `${message ?? "Text does not include"} ${format(part)}: ${format(actual)}`,
  );
}

/** Fails unless the value is an instance of the class. */
export function assertInstanceOf<T>(
  actual: unknown,
  // deno-lint-ignore no-explicit-any -- a class with any constructor, as `instanceof` accepts it
  type: abstract new (...args: any[]) => T,
  message?: string,
): asserts actual is T {
  if (actual instanceof type) return;
  fail(
    `${message ?? `Expected an instance of ${type.name}`}, got ${
      format(actual)
    }`,
  );
}

/**
 * Fails unless the function throws synchronously.
 *
 * @param fn What must throw.
 * @param type The class of the error.
 * @param text A part of its message.
 * @returns The error.
 */
export function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  type?: ErrorClass<E>,
  text?: string,
): E {
  let caught: { readonly error: unknown } | undefined;
  try {
    fn();
  } catch (error) {
    caught = { error };
  }
  if (caught === undefined) {
    fail(`Expected ${type?.name ?? "an error"} to be thrown`);
  }
  return requireError(caught.error, type, text);
}

/**
 * Fails unless the promise that the function returns rejects; a synchronous throw fails as well.
 *
 * @param fn What must reject.
 * @param type The class of the error.
 * @param text A part of its message.
 * @returns The error.
 */
export async function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  type?: ErrorClass<E>,
  text?: string,
): Promise<E> {
  let promise: PromiseLike<unknown>;
  try {
    promise = fn();
  } catch (error) {
    fail(`Expected a rejected promise, but the call threw ${format(error)}`);
  }
  let caught: { readonly error: unknown } | undefined;
  try {
    await promise;
  } catch (error) {
    caught = { error };
  }
  if (caught === undefined) {
    fail(`Expected a rejection with ${type?.name ?? "an error"}`);
  }
  return requireError(caught.error, type, text);
}

function requireError<E extends Error>(
  error: unknown,
  type: ErrorClass<E> | undefined,
  text: string | undefined,
): E {
  if (!(error instanceof (type ?? Error))) {
    throw new AssertionError(
      `Expected ${type?.name ?? "an Error"}, got ${format(error)}`,
      {
        cause: error,
      },
    );
  }
  if (text !== undefined) {
    assertStringIncludes(error.message, text, "Error message does not include");
  }
  return error as E;
}
