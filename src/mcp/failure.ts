import { errorText } from "../base/errors.ts";
import { McpServerError } from "./errors.ts";
import type { McpEnding } from "./protocol.ts";
import { ErrorCode, McpError, OAuthError, UnauthorizedError } from "./sdk.ts";

/**
 * Turns what the SDK throws into an error that may be shown to the model.
 *
 * Of a refused HTTP request only the status is told, as its body and its address may
 * hold secrets.
 */
export function serverFailure(error: unknown, server: string): McpServerError {
  if (error instanceof McpServerError) return error;
  const httpStatus = httpStatusOf(error);
  if (httpStatus !== undefined) {
    const message = `MCP server ${server} answered HTTP ${httpStatus}`;
    return new McpServerError(message, { server, httpStatus });
  }
  const message = withoutQueries(messageOf(error, server));
  return new McpServerError(message, { server, cause: error });
}

/** The error for a server without a connection. */
export function notConnected(server: string, cause?: unknown): McpServerError {
  return new McpServerError(`MCP server ${server} is not connected`, {
    server,
    cause,
  });
}

/** The error for a server that nobody may connect to now, or ever. */
export function closedServer(
  server: string,
  { disabled = false }: { readonly disabled?: boolean | undefined },
): McpServerError {
  return new McpServerError(
    disabled
      ? `MCP server ${server} is disabled in its configuration`
      : `MCP server ${server} is closed; start up its handler or manager first`,
    { server },
  );
}

/** The error for a server whose user has not come back with a code yet. */
export function needsAuthorization(server: string): McpServerError {
  return new McpServerError(`MCP server ${server} needs authorization`, {
    server,
  });
}

/** How the program of a server ended, with its last words; for people. */
export function endingText(
  server: string,
  { command, how, lastOutput }: McpEnding,
): string {
  const text = `MCP server ${server} ended: ${command} ${how}`;
  return lastOutput === "" ? text : `${text}; it wrote: ${lastOutput}`;
}

/** True if the connection ended while a request was pending. */
export function isConnectionLost(error: unknown): boolean {
  return isOfSdk(error, ErrorCode.ConnectionClosed, closedText);
}

/** What the SDK says of a connection that ended. */
export function connectionLost(): McpError {
  return new McpError(ErrorCode.ConnectionClosed, closedText);
}

/** The words of the SDK for that. */
export const closedText = "Connection closed";

/** What aborts a call that took longer than calls may take in all. */
export function totalTimeout(): McpError {
  return new McpError(ErrorCode.RequestTimeout, overall);
}

const overall = "The call took too long in all";

/** Which time of a call was over; undefined if it is something else. */
export function timeoutText(
  error: unknown,
  server: string,
  call: {
    readonly toolName: string;
    readonly timeoutMs: number;
    readonly maxTotalTimeoutMs: number | null;
  },
): string | undefined {
  if (!isTimeout(error)) return undefined;
  const limit = isTotalTimeout(error)
    ? `${call.maxTotalTimeoutMs} ms (maxTotalTimeoutMs)`
    : `${call.timeoutMs} ms (timeoutMs)`;
  return `MCP request timed out: ${server} did not answer ${call.toolName} within ${limit}`;
}

function isTimeout(error: unknown): boolean {
  return isTotalTimeout(error) ||
    isOfSdk(error, ErrorCode.RequestTimeout, "Request timed out");
}

function isTotalTimeout(error: unknown): boolean {
  return isOfSdk(error, ErrorCode.RequestTimeout, overall);
}

/** True for what the SDK says by itself: servers answer with the same codes for reasons of their own. */
function isOfSdk(error: unknown, code: number, text: string): boolean {
  return error instanceof McpError &&
    error.message === new McpError(code, text).message;
}

/** What a log is told of an error that ends no request; the SDK quotes whole messages in some. */
export function troubleText(error: unknown, server: string): string {
  const { message } = serverFailure(error, server);
  return message.length > longestTrouble
    ? `${message.slice(0, longestTrouble)}...`
    : message;
}

const longestTrouble = 200;

/** True if the server wants to know who asks. */
export function wantsAuthorization(error: unknown): boolean {
  return error instanceof UnauthorizedError || httpStatusOf(error) === 401;
}

/** True if the user was sent to the authorization server and will bring back a code. */
export function isUserAway(error: unknown): boolean {
  return error instanceof UnauthorizedError;
}

/** True if the server refused a request because it has no such session. */
export function isUnknownSession(error: unknown): boolean {
  const status = httpStatusOf(error);
  // The protocol says 404; several servers say 400 and why. Any other 400 may be the
  // answer to a call that was carried out.
  return status === 404 ||
    status === 400 && unknownSession.test(refusalIn(error as Error));
}

const unknownSession =
  /^(Bad Request: )?(No valid session ID provided|Server not initialized|Invalid session ID|Session not found)$/i;

/** What a server says of a refused request: plainly, or as an error that answers no message. */
function refusalIn({ message }: Error): string {
  const body = message.replace(
    /^(Streamable HTTP error: )?Error POSTing to endpoint( \(HTTP \d+\))?: /,
    "",
  ).trim();
  try {
    const { id, error } = JSON.parse(body);
    return id === null ? String(error?.message) : "";
  } catch {
    return body;
  }
}

/** The status of the HTTP response that an error of a transport speaks of. */
function httpStatusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || error instanceof McpError) return undefined;
  const { code, httpStatus } = error as { code?: unknown; httpStatus?: number };
  if (httpStatus !== undefined) return httpStatus;
  if (typeof code === "number") return code >= 100 ? code : undefined;
  // The older transport has no member for it.
  const inText = /^Error POSTing to endpoint \(HTTP (\d{3})\)/.exec(
    error.message,
  );
  return inText === null ? undefined : Number(inText[1]);
}

function messageOf(error: unknown, server: string): string {
  if (error instanceof UnauthorizedError) {
    if (error.message === "No auth provider") {
      return `MCP server ${server} has no authProvider, which would take the code`;
    }
    return `MCP server ${server} needs authorization`;
  }
  if (error instanceof OAuthError) {
    // Its message may quote the response, which may hold tokens.
    return `The authorization server of MCP server ${server} answered ${error.errorCode}`;
  }
  if (error instanceof McpError) {
    return isTimeout(error) ? "MCP request timed out" : error.message;
  }
  // Their messages quote what was read.
  if (error instanceof SyntaxError || isSchemaError(error)) {
    return `MCP server ${server} sent what the protocol does not allow`;
  }
  const text = errorText(error);
  return isFetchFailure(error, text)
    ? `MCP server ${server} cannot be reached${networkCause(error)}`
    : text;
}

/** True unless it is a mistake in somebody's code, which throws such errors as well. */
function isFetchFailure(error: unknown, text: string): boolean {
  if (text.startsWith("SSE error: ")) return true;
  const { code } = Object(error) as { code?: unknown };
  return code === "ConnectionRefused" || code === "FailedToOpenSocket" ||
    error instanceof TypeError &&
      !/ is not | of (undefined|null)\b/.test(text);
}

/** Why a request failed, out of a few reasons: the messages of platforms quote the address. */
function networkCause(error: unknown): string {
  const { code, cause } = Object(error) as { code?: unknown; cause?: unknown };
  const inner = Object(cause) as { code?: unknown };
  const text = [code, error, inner.code, cause].map(String).join(" ")
    .replace(/\S*:\/\/\S*/g, "");
  const found = networkCauses.find(([, pattern]) => pattern.test(text));
  return found === undefined ? "" : `: ${found[0]}`;
}

const networkCauses: readonly (readonly [string, RegExp])[] = [
  ["the connection was refused", /refused/i],
  ["its host is not known", /ENOTFOUND|EAI_AGAIN|dns error|failed to lookup/],
  [
    "there is no secure connection to it",
    /CERT_|_CERT|ERR_SSL|ERR_TLS|certificate|tls|corrupt message/i,
  ],
];

/** The same text with its addresses cut down to what holds no keys. */
function withoutQueries(text: string): string {
  return text.replace(/\b[a-z]+:\/\/[^\s"'<>]+/gi, (address) => {
    if (!/[?#@]/.test(address)) return address;
    if (!URL.canParse(address)) return "an address";
    const { protocol, host, pathname } = new URL(address);
    return `${protocol}//${host}${pathname}`;
  });
}

function isSchemaError(error: unknown): boolean {
  return error instanceof Error && error.name === "ZodError";
}
