import type { McpOAuthProvider } from "../../src/mcp/mod.ts";

/** What is known of a client before it meets an authorization server. */
export interface OAuthClientOptions {
  /** What the authorization server gave it in advance, if it did. */
  readonly registered?: object;
  /** The rest of how it gets tokens; a redirectUrl of undefined means there is no user. */
  readonly grant?: Partial<McpOAuthProvider>;
}

/** A client that keeps everything in memory, and whose user agrees to everything. */
export interface OAuthClient extends McpOAuthProvider {
  /** The code of the last visit to the authorization server. @throws There was none. */
  takeCode(): string;
}

const redirectUrl = "http://127.0.0.1:8123/back";

/** A client with a user, or with a grant that needs none. */
export function oauthClient(
  { registered, grant }: OAuthClientOptions = {},
): OAuthClient {
  const kept: { client?: object; tokens?: object; verifier?: string } = {};
  let code: string | null = null;
  return {
    redirectUrl,
    clientMetadata: {
      client_name: "ejagent",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    },
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    clientInformation: () => kept.client ?? registered,
    saveClientInformation: (client) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier ?? "",
    invalidateCredentials: (what) => {
      if (what === "all" || what === "client") delete kept.client;
      if (what === "all" || what === "tokens") delete kept.tokens;
    },
    redirectToAuthorization: async (url) => void (code = await visit(url)),
    ...grant,
    takeCode() {
      if (code === null) throw new Error("The user was sent nowhere");
      const taken = code;
      code = null;
      return taken;
    },
  };
}

/** A user without questions: goes there and is sent back with a code. */
async function visit(url: URL): Promise<string | null> {
  const { headers, body } = await fetch(url, { redirect: "manual" });
  await body?.cancel();
  return new URL(headers.get("location")!).searchParams.get("code");
}
