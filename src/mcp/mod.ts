/**
 * Tools of servers that speak the Model Context Protocol.
 *
 * ```ts
 * import { convertMcpResult, parseMcpConfig } from "@ejagent/core/mcp";
 * import { equal } from "node:assert/strict";
 *
 * const config = parseMcpConfig({
 *   mcpServers: { docs: { url: "https://docs.example/mcp" } },
 * });
 * equal(config.mcpServers.docs?.kind, "streamable-http");
 * ```
 *
 * Choose this entry to give an agent the tools of servers: {@linkcode McpToolHandler}
 * takes the configuration file that MCP clients share. Servers over HTTP work on every
 * runtime; for servers that are child processes add `stdioTransport` of
 * `@ejagent/core/mcp-stdio`.
 *
 * @module
 */
export type { JsonObject, JsonValue } from "../base/json.ts";
export { parseMcpConfig } from "./config.ts";
export type {
  McpConfig,
  McpCustomServer,
  McpRemoteServer,
  McpServer,
  McpServerInput,
  McpServerSettings,
  McpStdioServer,
} from "./config.ts";
export type { McpServerStatus } from "./server_status.ts";
export type { McpDiagnostic } from "./diagnostic.ts";
export { McpServerError, McpToolError } from "./errors.ts";
export type { McpServerErrorOptions } from "./errors.ts";
export { McpToolHandler } from "./handler.ts";
export type { McpToolHandlerOptions } from "./handler.ts";
export type {
  McpElicitRequest,
  McpElicitResult,
  McpHookContext,
  McpHooks,
  McpRoot,
  McpSampleRequest,
  McpSampleResult,
} from "./hooks.ts";
export { McpServerManager } from "./manager.ts";
export type { McpCallOptions, McpManager } from "./manager.ts";
export type { McpOAuthProvider } from "./oauth_provider.ts";
export type {
  McpConnectionOptions,
  McpServerManagerOptions,
  McpToolChanges,
} from "./options.ts";
export type {
  McpClientInfo,
  McpContentBlock,
  McpEnding,
  McpProgress,
  McpTool,
  McpToolAnnotations,
  McpToolResult,
  McpTransport,
} from "./protocol.ts";
export { convertMcpResult } from "./result.ts";
export type { ConvertMcpResultOptions } from "./result.ts";
export type {
  McpHttpOptions,
  McpReconnectionOptions,
  McpStdioRequest,
  McpTransportFactory,
} from "./transport.ts";
export type { McpVariables } from "./variables.ts";
