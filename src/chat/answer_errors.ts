import { type ModelErrorOptions, ModelProviderError } from "../model/errors.ts";
import type { Operation } from "./errors.ts";

/** The error for something else in place of an answer. @param what For example a web page. */
export function strangeAnswer(
  operation: Operation,
  what: string,
  options?: ModelErrorOptions,
): ModelProviderError {
  return new ModelProviderError(
    `${operation.name} got ${what} instead of an answer; check that ${operation.baseUrl} ` +
      "is the base address of an OpenAI-compatible API, which mostly ends in /v1",
    options,
  );
}

/** The error for data that is not JSON. @param text The data, which the cause may quote. */
export function malformedAnswer(
  operation: Operation,
  text: string,
  cause: unknown,
): ModelProviderError {
  const isSafe = !operation.secrets.some((secret) => text.includes(secret));
  return new ModelProviderError(
    `${operation.name} got data that is not JSON`,
    isSafe ? { cause } : {},
  );
}

/** The error for a body without a single byte. */
export function emptyAnswer(operation: Operation): ModelProviderError {
  return strangeAnswer(operation, "an empty body", { retryable: true });
}

/** The error for a document in which no choice can be found. */
export function choicelessAnswer(operation: Operation): ModelProviderError {
  return new ModelProviderError(
    `${operation.name} got an answer without choices`,
  );
}

/**
 * The error for an answer without a finish reason.
 *
 * @param done True if the provider said that it was done: then a second try would end alike.
 */
export function incompleteAnswer(
  operation: Operation,
  done: boolean,
): ModelProviderError {
  return new ModelProviderError(
    done
      ? `${operation.name} ended without a finish reason; ` +
        "set compat.acceptMissingFinish if the server never sends one"
      : `${operation.name} is incomplete: it broke off before a finish reason`,
    { retryable: !done },
  );
}

/** The error for a call that can never be run. */
export function namelessCall(operation: Operation): ModelProviderError {
  return new ModelProviderError(
    `${operation.name} holds a tool call without a name`,
  );
}
