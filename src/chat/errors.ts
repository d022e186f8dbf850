import { errorText } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import { longestTimerMs } from "../base/ports.ts";
import {
  ContextOverflowError,
  ModelAuthenticationError,
  type ModelErrorOptions,
  ModelProviderError,
  ModelRateLimitError,
  ModelTimeoutError,
} from "../model/errors.ts";
import {
  classify,
  exceedsLimitAlone,
  isServerFault,
  type ProviderVerdict,
  verdictOf,
  waitingHelps,
} from "./classify.ts";
import { mayShow } from "./secrets.ts";

/** The request that errors speak about. */
export interface Operation {
  /** Begins every text: `"Chat completion"` or `"Chat completion stream"`. */
  readonly name: string;
  /** Base address without query. */
  readonly baseUrl: string;
  /** Name of the model. */
  readonly model: string;
  /** Milliseconds that a wait may take. */
  readonly timeoutMs: number;
  /** Texts that must not come back in any message. */
  readonly secrets: readonly string[];
  /** True if a refusal with status 400 and without a body means overflow. */
  readonly emptyBodyMeansOverflow: boolean;
}

/** What is known of a failure that the provider reported. */
export interface ProviderFailure {
  /** HTTP status, if it came instead of an answer. */
  readonly status?: number | undefined;
  /** True if the refusal is a redirect, or came from where one led. */
  readonly redirected?: boolean;
  /** Response headers, if there were any. */
  readonly headers?: Pick<Headers, "get"> | undefined;
  /** The error as parsed JSON, else its text; undefined if there was none. */
  readonly body: unknown;
  /** True if pieces of an answer were delivered before. */
  readonly responseStarted?: boolean;
  /** What was thrown, if anything. */
  readonly cause?: unknown;
  /** Milliseconds since the epoch, for dates in headers. */
  readonly now: number;
}

/** The error for a failure that the provider reported. */
export function providerError(
  operation: Operation,
  failure: ProviderFailure,
): ModelProviderError {
  const verdict = verdictOf(failure.status, failure.body);
  const kind = isUnexplainedOverflow(operation, failure)
    ? "context_overflow"
    : classify(verdict);
  const message = describe(operation, verdict);
  const options: ModelErrorOptions = {
    ...(verdict.status !== undefined && { status: verdict.status }),
    ...(failure.cause !== undefined &&
      { cause: safeCause(operation, failure.cause) }),
  };
  switch (kind) {
    case "authentication":
      return new ModelAuthenticationError(
        `${message}; check the apiKey for ${operation.baseUrl} (MODEL_API_KEY)`,
        options,
      );
    case "rate_limit": {
      const advice = exceedsLimitAlone(verdict.text)
        ? "; the request alone is larger than the limit, so shorten the conversation"
        : "";
      return new ModelRateLimitError(`${message}${advice}`, {
        ...options,
        retryable: waitingHelps(verdict),
        retryAfterMs: retryAfter(failure),
      });
    }
    case "timeout":
      return new ModelTimeoutError(message, options);
    case "context_overflow":
      return new ContextOverflowError(message, {
        ...options,
        responseStarted: failure.responseStarted ?? false,
      });
    case "provider_error":
      return new ModelProviderError(
        `${message}${adviceFor(operation, verdict.status, failure.redirected)}`,
        {
          ...options,
          retryable: isServerFault(verdict),
        },
      );
  }
}

/**
 * The error for whatever broke a request or the reading of its answer.
 *
 * @param thrown Comes back unchanged if it is a `ModelProviderError`.
 * @param progress `answering`: the response had begun; `started`: pieces of the
 * answer were delivered; `now`: milliseconds since the epoch.
 */
export function toModelError(
  operation: Operation,
  thrown: unknown,
  progress: Progress,
): ModelProviderError {
  if (thrown instanceof ModelProviderError) return thrown;
  try {
    return errorFrom(operation, thrown, progress);
  } catch {
    // What was thrown throws itself when it is read.
    return errorFrom(operation, new Error(errorText(thrown)), progress);
  }
}

interface Progress {
  readonly answering: boolean;
  readonly started: boolean;
  readonly now: number;
}

function errorFrom(
  operation: Operation,
  thrown: unknown,
  progress: Progress,
): ModelProviderError {
  const failure = failureOf(thrown);
  if (failure !== undefined) {
    const { started: responseStarted, now } = progress;
    return providerError(operation, {
      ...failure,
      responseStarted,
      cause: thrown,
      now,
    });
  }
  const text = quote(operation, rootText(thrown));
  const cause = safeCause(operation, thrown);
  const unprocessed = !progress.answering && isUnreached(thrown);
  if (isTimeout(thrown)) {
    return new ModelTimeoutError(`${operation.name} timed out: ${text}`, {
      cause,
      unprocessed,
    });
  }
  return new ModelProviderError(
    progress.answering
      ? `${operation.name} was cut off: ${text}`
      : `${operation.name} could not reach ${operation.baseUrl}: ${text}; ` +
        "check that the baseUrl (MODEL_URL) is right and that the server runs",
    { cause, retryable: true, unprocessed },
  );
}

/** The error for a wait that took too long. */
export function idleError(
  operation: Operation,
  answering: boolean,
): ModelTimeoutError {
  const what = answering ? "further data" : "response";
  return new ModelTimeoutError(
    `${operation.name} got no ${what} from ${operation.baseUrl} within ${operation.timeoutMs} ms; ` +
      "raise timeoutMs (LLM_TIMEOUT) if the model needs longer",
  );
}

/** The error for use before `startup` or after `shutdown`. */
export function notStartedError(): ModelProviderError {
  return new ModelProviderError(
    "The model adapter is not started; call startup() first",
  );
}

function describe(operation: Operation, verdict: ProviderVerdict): string {
  const { status, text } = verdict;
  const failed = status === undefined
    ? `${operation.name} failed`
    : `${operation.name} failed with status ${status}`;
  const said = quote(operation, text);
  return said === "" ? failed : `${failed}: ${said}`;
}

/** Providers say this much at most in one of our messages. */
const longestQuote = 500;

function quote(operation: Operation, text: string): string {
  let safe = text.trimStart().startsWith("<") ? "the body is a web page" : text;
  for (const secret of operation.secrets) {
    safe = safe.replaceAll(secret, "[redacted]");
  }
  if (safe.length > longestQuote) {
    safe = `${safe.slice(0, longestQuote).trimEnd()} ...`;
  }
  return safe.trim().replace(/\.$/, "");
}

/** What was thrown, or its redacted text if it may show a secret. */
function safeCause(operation: Operation, thrown: unknown): unknown {
  if (!mayShow(thrown, operation.secrets)) return thrown;
  const safe = new Error(quote(operation, rootText(thrown)));
  if (thrown instanceof Error) safe.name = thrown.name;
  return safe;
}

/** What was thrown and what caused it, the outermost first. */
function causesOf(thrown: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  for (let at = thrown; at !== undefined && !causes.includes(at);) {
    causes.push(at);
    at = at instanceof Error ? at.cause ?? firstOf(at) : undefined;
  }
  return causes;
}

// A host with several addresses fails with a list of errors and no text.
function firstOf(error: Error): unknown {
  const { errors } = error as { readonly errors?: unknown };
  return Array.isArray(errors) ? errors[0] : undefined;
}

function adviceFor(
  operation: Operation,
  status = 0,
  redirected = false,
): string {
  if (redirected || status >= 300 && status < 400) {
    return `; ${operation.baseUrl} redirects requests, so set the baseUrl (MODEL_URL) ` +
      "to where the API is";
  }
  if (status !== 404) return "";
  return `; check that ${operation.baseUrl} is the base address of the API ` +
    `and that it offers the model "${operation.model}"`;
}

function isUnexplainedOverflow(
  operation: Operation,
  { status, body }: ProviderFailure,
): boolean {
  return operation.emptyBodyMeansOverflow && status === 400 &&
    (body === undefined || body === "");
}

function retryAfter({ headers, now }: ProviderFailure): number | null {
  const exact = headers?.get("retry-after-ms")?.trim() ?? "";
  const after = headers?.get("retry-after")?.trim() ?? "";
  const ms = decimal.test(exact)
    ? Number(exact)
    : decimal.test(after)
    ? Number(after) * 1000
    : weekday.test(after)
    ? Date.parse(after) - now
    : NaN;
  return Number.isNaN(ms)
    ? null
    : Math.min(Math.max(0, Math.round(ms)), longestTimerMs);
}

const decimal = /^\d*\.?\d+$/;

// Some runtimes take almost any text for a date.
const weekday = /^(mon|tue|wed|thu|fri|sat|sun)/i;

/** What clients throw for a bad status or an error in a stream. */
interface ClientError {
  readonly status?: number;
  readonly headers?: Pick<Headers, "get">;
  readonly error?: unknown;
  readonly code?: unknown;
  readonly type?: unknown;
  readonly message?: string;
}

function failureOf(thrown: unknown): Omit<ProviderFailure, "now"> | undefined {
  if (!isJsonObject(thrown)) return undefined;
  const { status, headers, error, code, type, message } = thrown as ClientError;
  if (Number.isInteger(status)) {
    return { status, headers, body: error ?? bodyText(status, message) };
  }
  if (isJsonObject(error)) return { body: error };
  // Connections fail with codes too, but never with one of these.
  const body = { code, type, message };
  return classify(verdictOf(undefined, body)) === "provider_error"
    ? undefined
    : { body };
}

// Clients put the status in front of a body that is no JSON.
function bodyText(
  status: number | undefined,
  message = "",
): string | undefined {
  if (message === `${status} status code (no body)`) return undefined;
  return message.startsWith(`${status} `)
    ? message.slice(`${status} `.length)
    : message;
}

function isTimeout(thrown: unknown): boolean {
  return causesOf(thrown).filter(isJsonObject).some(({ name, code, message }) =>
    name === "TimeoutError" || /TIMEDOUT|_TIMEOUT/.test(String(code)) ||
    /timed? ?out/i.test(String(message))
  );
}

/** How the runtimes say that there was no connection at all. */
const noConnection =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH|CONNECT_TIMEOUT|ConnectionRefused|FailedToOpenSocket|\(Connect\)/;

function isUnreached(thrown: unknown): boolean {
  return causesOf(thrown).filter(isJsonObject).some(({ code, message }) =>
    noConnection.test(`${code} ${message}`)
  );
}

// "fetch failed" and "Connection error" say nothing; the reason is further down.
function rootText(thrown: unknown): string {
  const telling = causesOf(thrown).findLast((at) =>
    at instanceof Error && at.message !== ""
  );
  return errorText(telling ?? thrown);
}
