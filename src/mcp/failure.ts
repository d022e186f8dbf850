import { errorText } from "../base/errors.ts";
import { McpServerError } from "./errors.ts";
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
  return new McpServerError(messageOf(error, server), { server, cause: error });
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
  // The protocol says 404; servers after the SDK's own example say 400 and why.
  return status === 404 ||
    status === 400 && /session id/i.test((error as Error).message);
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
    return `MCP server ${server} needs authorization`;
  }
  if (error instanceof OAuthError) {
    // Its message may quote the response, which may hold tokens.
    return `The authorization server of MCP server ${server} answered ${error.errorCode}`;
  }
  if (error instanceof McpError) {
    return error.code === ErrorCode.RequestTimeout
      ? "MCP request timed out"
      : error.message;
  }
  // Their messages quote what was read.
  if (error instanceof SyntaxError || isSchemaError(error)) {
    return `MCP server ${server} sent what the protocol does not allow`;
  }
  const text = errorText(error);
  // The messages of a failed fetch may quote the address.
  return error instanceof TypeError || text.startsWith("SSE error: ")
    ? `MCP server ${server} cannot be reached`
    : text;
}

function isSchemaError(error: unknown): boolean {
  return error instanceof Error && error.name === "ZodError";
}
