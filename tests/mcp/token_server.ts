import { type McpOAuthProvider, McpToolHandler } from "../../src/mcp/mod.ts";
import type { McpToolHandlerOptions } from "../../src/mcp/mod.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { FakeHttpServer, FakeServer } from "./fake_server.ts";

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A server next to the authorization server that guards it, which takes every refresh
 * token and every code once.
 */
export class TokenServer {
  /** What came to the token endpoint, as `grant token-or-code`, in order. */
  readonly exchanges: string[] = [];
  /** Answers the next request for tokens, in place of the server. */
  refuse: (() => Response | Promise<Response>) | undefined;
  /** Holds a refusal back. */
  beforeRefusal: ((method: string) => Promise<void> | undefined) | undefined;
  /** Whether tokens come with another one to refresh them. */
  sellsRefreshTokens = true;
  #access: string | undefined;
  #refresh: string | undefined;
  readonly #guarded: Fetch;
  readonly #codes = new Map<string, string>();
  #count = 0;

  /** Lets in whoever has the token, to a server with one tool if not told otherwise. */
  constructor(guarded: Fetch = new FakeHttpServer(new FakeServer()).fetch) {
    this.#guarded = guarded;
  }

  /** Tokens as a provider keeps them. */
  signedIn(issuer = "https://demo.example/"): object {
    return { ...this.sell(), issuer };
  }

  /** Fresh tokens; those before are worth nothing any longer. */
  sell(): object {
    this.#count += 1;
    this.#access = `access-${this.#count}`;
    this.#refresh = this.sellsRefreshTokens
      ? `refresh-${this.#count}`
      : undefined;
    return {
      access_token: this.#access,
      token_type: "Bearer",
      ...(this.#refresh !== undefined && { refresh_token: this.#refresh }),
    };
  }

  /** Lets nobody in with the tokens that were sold so far. */
  expire(): void {
    this.#access = undefined;
  }

  /** What a user brings back who was sent to an address. */
  visit(url: URL): string {
    const code = `code-${this.#codes.size + 1}`;
    this.#codes.set(code, url.searchParams.get("code_challenge")!);
    return code;
  }

  readonly fetch: Fetch = async (url, init = {}) => {
    const { pathname, origin } = new URL(url);
    if (pathname === "/token") return await this.#exchange(init);
    const [, resource] = metadataPath.exec(pathname) ?? [];
    if (resource !== undefined) {
      return Response.json({
        resource: `${origin}${resource}`,
        authorization_servers: [`${origin}/`],
      });
    }
    if (pathname.startsWith("/.well-known/")) {
      return new Response(null, { status: 404 });
    }
    const authorization = new Headers(init.headers).get("authorization");
    if (authorization === `Bearer ${this.#access}`) {
      return await this.#guarded(url, init);
    }
    const { method = "" } = JSON.parse(String(init.body ?? "{}"));
    await this.beforeRefusal?.(method);
    return new Response("secret diagnosis", { status: 401 });
  };

  async #exchange({ body }: RequestInit): Promise<Response> {
    const form = new URLSearchParams(String(body));
    const refreshToken = form.get("refresh_token");
    const code = form.get("code");
    this.exchanges.push(`${form.get("grant_type")} ${refreshToken ?? code}`);
    const { refuse } = this;
    this.refuse = undefined;
    if (refuse !== undefined) return await refuse();
    const isRight = refreshToken === null
      ? await this.#isRightCode(code!, form.get("code_verifier")!)
      : refreshToken === this.#refresh;
    return isRight ? Response.json(this.sell()) : refusal("invalid_grant");
  }

  async #isRightCode(code: string, verifier: string): Promise<boolean> {
    const challenge = this.#codes.get(code);
    this.#codes.delete(code);
    const bytes = new TextEncoder().encode(verifier);
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    const text = btoa(String.fromCharCode(...hash));
    const wanted = text.replaceAll("+", "-").replaceAll("/", "_");
    return wanted.replace(/=+$/, "") === challenge;
  }
}

const metadataPath = /^\/\.well-known\/oauth-protected-resource(\/.+)$/;

/** An error of an authorization server. */
export function refusal(error: string): Response {
  return Response.json({ error }, { status: 400 });
}

/** A provider that can be nothing but itself, and has only what every provider has. */
export class MemoryProvider implements McpOAuthProvider {
  readonly redirectUrl = "https://client.example/back";
  readonly clientMetadata: object = { redirect_uris: [this.redirectUrl] };
  /** Where the user was sent, in order. */
  readonly visits: URL[] = [];
  #tokens: object | undefined;
  #verifier = "";

  constructor(tokens?: object) {
    this.#tokens = tokens;
  }

  clientInformation(): object {
    return { client_id: "c1" };
  }

  tokens(): object | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: object): void {
    this.#tokens = tokens;
  }

  redirectToAuthorization(url: URL): void | Promise<void> {
    this.visits.push(url);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }
}

/** A handler over one guarded server with the name "demo". */
export function guardedHandler(
  fetch: Fetch,
  authProvider: McpOAuthProvider,
  options: Partial<McpToolHandlerOptions> = {},
): McpToolHandler {
  return new McpToolHandler({
    servers: { demo: { url: "https://demo.example/mcp", authProvider } },
    http: { fetch },
    logger: new RecordingLogger(),
    ...options,
  });
}
