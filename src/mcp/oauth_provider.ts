/**
 * Gets and keeps the tokens of one server.
 *
 * Every `OAuthClientProvider` of the official SDK is one, also those for programs
 * without a user. What it is handed to keep has to come back unchanged: the SDK notes
 * in it which authorization server it belongs to.
 *
 * @example In memory, for a program that registers itself
 * ```ts
 * import type { McpOAuthProvider } from "@ejagent/core/mcp";
 * import { equal } from "node:assert/strict";
 *
 * function memoryProvider(visit: (url: URL) => void): McpOAuthProvider {
 *   const kept: { client?: object; tokens?: object; verifier?: string } = {};
 *   return {
 *     redirectUrl: "http://127.0.0.1:8123/back",
 *     clientMetadata: {
 *       client_name: "Reader",
 *       redirect_uris: ["http://127.0.0.1:8123/back"],
 *     },
 *     clientInformation: () => kept.client,
 *     saveClientInformation: (client) => void (kept.client = client),
 *     tokens: () => kept.tokens,
 *     saveTokens: (tokens) => void (kept.tokens = tokens),
 *     redirectToAuthorization: visit,
 *     saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
 *     codeVerifier: () => kept.verifier ?? "",
 *   };
 * }
 *
 * equal(memoryProvider(console.log).tokens(), undefined);
 * ```
 */
export interface McpOAuthProvider {
  /** Where the user comes back to; undefined for programs without a user. */
  readonly redirectUrl: string | URL | undefined;
  /** How the client describes itself to authorization servers. */
  readonly clientMetadata: object;
  /** Address of the same description, for authorization servers that read it there. */
  readonly clientMetadataUrl?: string | undefined;
  /** What comes back with the user, so that the program can tell who it is. */
  state?(): string | Promise<string>;
  /** What is known of the registration. */
  clientInformation(): object | undefined | Promise<object | undefined>;
  /** Keeps a registration; without it the client does not register itself. */
  // deno-lint-ignore no-explicit-any -- the types of the SDK are not ours to name
  saveClientInformation?(information: any): void | Promise<void>;
  /** The tokens that are kept. */
  tokens(): object | undefined | Promise<object | undefined>;
  /** Keeps tokens. */
  // deno-lint-ignore no-explicit-any -- the types of the SDK are not ours to name
  saveTokens(tokens: any): void | Promise<void>;
  /**
   * Sends the user to an address. The server stays in the status `"needs_auth"` until
   * the code that the user brings back is given to `finishAuth` of the handler. However
   * many calls are refused, the user is sent away once, until somebody connects anew.
   */
  redirectToAuthorization(url: URL): void | Promise<void>;
  /** Keeps the secret half of the exchange. */
  saveCodeVerifier(codeVerifier: string): void | Promise<void>;
  /** The secret half that was kept. */
  codeVerifier(): string | Promise<string>;
  /** Proves in a request for tokens who the client is, in a way of its own. */
  addClientAuthentication?(
    headers: Headers,
    params: URLSearchParams,
    url: string | URL,
    // deno-lint-ignore no-explicit-any -- the types of the SDK are not ours to name
    metadata?: any,
  ): void | Promise<void>;
  /** Chooses the resource that tokens are for. @throws What the server calls itself is not trusted. */
  validateResourceURL?(
    serverUrl: string | URL,
    resource?: string,
  ): Promise<URL | undefined>;
  /** Forgets what an authorization server no longer takes. */
  invalidateCredentials?(
    scope: "all" | "client" | "tokens" | "verifier" | "discovery",
  ): void | Promise<void>;
  /** The parameters of a request for tokens that needs no user. */
  prepareTokenRequest?(
    scope?: string,
  ): URLSearchParams | undefined | Promise<URLSearchParams | undefined>;
  /** Keeps what was found out about the authorization server. */
  // deno-lint-ignore no-explicit-any -- the types of the SDK are not ours to name
  saveDiscoveryState?(state: any): void | Promise<void>;
  /** What was kept about it. */
  // deno-lint-ignore no-explicit-any -- the types of the SDK are not ours to name
  discoveryState?(): any;
}
