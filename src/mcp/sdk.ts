// The parts of the SDK that are used here. Its manifest has types only for paths
// without an ending and code only for paths with one, so both are named.

export { Client } from "@modelcontextprotocol/sdk/client";

// @ts-types="@modelcontextprotocol/sdk/client/auth"
export {
  auth,
  extractWWWAuthenticateParams,
  UnauthorizedError,
} from "@modelcontextprotocol/sdk/client/auth.js";

// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
export { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

// @ts-types="@modelcontextprotocol/sdk/server/auth/errors"
export { OAuthError } from "@modelcontextprotocol/sdk/server/auth/errors.js";

// @ts-types="@modelcontextprotocol/sdk/types"
export {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ErrorCode,
  ListRootsRequestSchema,
  McpError,
  ResultSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

// @ts-types="@modelcontextprotocol/sdk/shared/transport"
export { createFetchWithInit } from "@modelcontextprotocol/sdk/shared/transport.js";

export type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth";
export type { Transport } from "@modelcontextprotocol/sdk/shared/transport";
export type {
  ClientCapabilities,
  CreateMessageResult,
  ElicitResult,
} from "@modelcontextprotocol/sdk/types";
