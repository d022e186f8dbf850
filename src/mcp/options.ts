import type { Clock, Logger } from "../base/ports.ts";
import type { McpServerInput } from "./config.ts";
import type { McpDiagnostic } from "./diagnostic.ts";
import type { McpHooks } from "./hooks.ts";
import type { McpClientInfo } from "./protocol.ts";
import type { McpHttpOptions, McpTransportFactory } from "./transport.ts";
import type { McpVariables } from "./variables.ts";

/** How the tools of a server changed, by the names that the model sees. */
export interface McpToolChanges {
  /** Tools that are new. */
  readonly added: readonly string[];
  /** Tools that are gone. */
  readonly removed: readonly string[];
  /** Tools that are described in another way. */
  readonly changed: readonly string[];
}

/** How servers are connected and talked to. */
export interface McpConnectionOptions extends McpHooks {
  /** Values for `${NAME}` in configurations; without them nothing is expanded. */
  readonly env?: McpVariables | undefined;
  /** Starts child processes: `stdioTransport` of `@ejagent/core/mcp-stdio`. */
  readonly stdio?: McpTransportFactory | undefined;
  /** How remote servers are talked to. */
  readonly http?: McpHttpOptions | undefined;
  /** How the client introduces itself. @default {{ name: "ejagent", version: "1" }} */
  readonly clientInfo?: McpClientInfo | undefined;
  /** Milliseconds that connecting to a server and listing its tools may take. @default {30000} */
  readonly connectTimeoutMs?: number | undefined;
  /** Milliseconds that a call may take without progress. @default {60000} */
  readonly timeoutMs?: number | undefined;
  /** Whether progress starts the time of a call anew. @default {true} */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  /** Milliseconds that a call may take in all; no bound if omitted. */
  readonly maxTotalTimeoutMs?: number | undefined;
  /** Told when a server has other tools than before. */
  readonly onToolsChanged?:
    | ((server: string, changes: McpToolChanges) => void)
    | undefined;
  /** Told of everything that is wrong with servers and tools. */
  readonly onDiagnostic?: ((diagnostic: McpDiagnostic) => void) | undefined;
  /** Warned once of each thing that is wrong. @default {consoleLogger} */
  readonly logger?: Logger | undefined;
  /** Drives the waits, except that of `timeoutMs`. @default {systemClock} */
  readonly clock?: Clock | undefined;
}

/** What an {@linkcode McpServerManager} is made from: either `config` or `servers`. */
export interface McpServerManagerOptions extends McpConnectionOptions {
  /** A configuration, see {@linkcode parseMcpConfig}. */
  readonly config?: unknown;
  /** Servers by name. */
  readonly servers?: Readonly<Record<string, McpServerInput>> | undefined;
}
