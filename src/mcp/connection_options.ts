import type { Clock, Logger } from "../base/ports.ts";
import type { ReportDiagnostic } from "./diagnostic.ts";
import type { McpHooks } from "./hooks.ts";
import type { McpClientInfo } from "./protocol.ts";
import type { McpHttpOptions, McpTransportFactory } from "./transport.ts";
import type { McpVariables } from "./variables.ts";

/** What all connections of a manager share. */
export interface ConnectionOptions {
  /** Milliseconds that connecting and listing may take. */
  readonly connectTimeoutMs: number;
  /** How the client introduces itself. */
  readonly clientInfo: McpClientInfo;
  /** What servers may ask of the client. */
  readonly hooks: McpHooks;
  /** Values for `${NAME}`; undefined expands nothing. */
  readonly variables: McpVariables | undefined;
  /** Starts child processes. */
  readonly stdio: McpTransportFactory | undefined;
  /** How remote servers are talked to. */
  readonly http: McpHttpOptions | undefined;
  /** Drives the waits. */
  readonly clock: Clock;
  /** Told what is only good to know. */
  readonly logger: Logger;
  /** Told what somebody should know. */
  readonly report: ReportDiagnostic;
  /** The tools of a server are others now. */
  readonly onToolsChanged: (server: string) => void;
}
