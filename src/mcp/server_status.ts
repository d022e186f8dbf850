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
