import type { McpServer } from "./config.ts";
import type { McpServerError } from "./errors.ts";
import { isUserAway, wantsAuthorization } from "./failure.ts";

/** How a server is. */
export interface McpServerStatus {
  /** `"closed"` before start-up, after shutdown, and when the connection was lost. */
  readonly status:
    | "connected"
    | "failed"
    | "needs_auth"
    | "closed"
    | "disabled";
  /** Why it failed or was lost, if that is known; programs with their last words. */
  readonly error?: string;
}

/** How a server is that could not be connected. @param error What was thrown first. */
export function failedStatus(
  server: McpServer,
  error: unknown,
  { message }: McpServerError,
): McpServerStatus {
  if (!wantsAuthorization(error)) return { status: "failed", error: message };
  const remedy = isUserAway(error) ? "" : remedies[credentialsOf(server)];
  return { status: "needs_auth", error: message + remedy };
}

const remedies = {
  none: "; give it an authProvider, or a token as auth",
  auth: "; its auth or its headers are refused",
  provider: "",
};

function credentialsOf(server: McpServer): keyof typeof remedies {
  if (server.kind === "stdio" || server.kind === "custom") return "provider";
  const { auth, authProvider, headers = {} } = server;
  if (authProvider !== undefined) return "provider";
  const hasHeader = Object.keys(headers).some((name) =>
    /^authorization$/i.test(name)
  );
  return auth !== undefined || hasHeader ? "auth" : "none";
}
