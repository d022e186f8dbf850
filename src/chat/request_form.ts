import type { JsonValue } from "../base/json.ts";
import { requireObject, requireString } from "../base/require.ts";
import type { ChatCompat } from "./compat.ts";
import type { ModelConfig } from "./config.ts";
import type { ChatEndpoint } from "./endpoint.ts";
import type { Operation } from "./errors.ts";
import { secretsOf } from "./secrets.ts";

/** What all requests of one adapter have in common, streamed or not. */
export interface RequestForm {
  /** What errors speak about. */
  readonly operation: Operation;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Members of the body apart from messages, tools and options. */
  readonly members: Readonly<Record<string, JsonValue>>;
}

/** What an adapter knows before its first request. */
export interface RequestFormInput {
  readonly config: ModelConfig;
  readonly endpoint: ChatEndpoint;
  readonly compat: ChatCompat;
  /** Headers that the caller adds or replaces, with names in any case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The form of requests for a stream. */
export function streamingForm(input: RequestFormInput): RequestForm {
  const { model, includeUsage } = input.config;
  return {
    operation: operationOf("Chat completion stream", input),
    headers: headersOf("text/event-stream", input),
    members: {
      model,
      stream: true,
      ...(includeUsage && { stream_options: { include_usage: true } }),
    },
  };
}

/** The form of requests for a whole answer at once. */
export function wholeForm(input: RequestFormInput): RequestForm {
  return {
    operation: operationOf("Chat completion", input),
    headers: headersOf("application/json", input),
    members: { model: input.config.model },
  };
}

const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const headerValue = /^[\t\x20-\x7e\xa0-\xff]*$/;

/**
 * Checks headers before a platform does, whose errors would repeat their values
 * and look like those of a connection.
 *
 * @throws {TypeError} Not all are texts. @throws {RangeError} One cannot be sent.
 */
export function requireHeaders(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  requireObject("headers", headers);
  for (const [name, value] of Object.entries(headers)) {
    if (!headerName.test(name)) {
      throw new RangeError(
        "The name of a header must be letters, digits and hyphens",
      );
    }
    if (!headerValue.test(requireString(`headers["${name}"]`, value))) {
      throw new RangeError(
        `headers["${name}"] must be one line of Latin-1 characters`,
      );
    }
  }
  return headers;
}

function headersOf(
  accept: string,
  { config, headers }: RequestFormInput,
): Record<string, string> {
  const own = {
    accept,
    "content-type": "application/json",
    authorization: `Bearer ${config.apiKey}`,
  };
  const others = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value]);
  return Object.freeze({ ...own, ...Object.fromEntries(others) });
}

function operationOf(
  name: string,
  { config, endpoint, compat, headers }: RequestFormInput,
): Operation {
  const { model, timeoutMs, apiKey } = config;
  return {
    name,
    baseUrl: endpoint.baseUrl,
    model,
    timeoutMs,
    secrets: secretsOf(apiKey, endpoint.query, headers),
    emptyBodyMeansOverflow: compat.emptyBodyMeansOverflow,
  };
}
