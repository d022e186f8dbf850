/**
 * What the compiler must know about the mcp entry. Checked by `deno check`, never run.
 *
 * @module
 */

// @ts-types="@modelcontextprotocol/sdk/client/auth"
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
// @ts-types="@modelcontextprotocol/sdk/client/auth-extensions"
import type {
  ClientCredentialsProvider,
  PrivateKeyJwtProvider,
} from "@modelcontextprotocol/sdk/client/auth-extensions.js";
import type { McpOAuthProvider } from "../../src/mcp/mod.ts";

declare const interactive: OAuthClientProvider;
declare const withSecret: ClientCredentialsProvider;
declare const withKey: PrivateKeyJwtProvider;

export const providers: readonly McpOAuthProvider[] = [
  interactive,
  withSecret,
  withKey,
];
