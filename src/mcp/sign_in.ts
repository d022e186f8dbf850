import { detach, unlessAborted } from "../base/abort.ts";
import type { Clock } from "../base/ports.ts";
import type { McpFetch } from "./answer_watch.ts";
import type { McpRemoteServer, McpServer } from "./config.ts";
import { isUserAway } from "./failure.ts";
import type { McpOAuthProvider } from "./oauth_provider.ts";
import {
  auth,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
  UnauthorizedError,
} from "./sdk.ts";

/** What sign-ins are limited by. */
export interface SignInOptions {
  /** Tells how old a sign-in is. */
  readonly clock: Clock;
  /** Milliseconds after which nobody joins a sign-in any longer. */
  readonly connectTimeoutMs: number;
}

/** A server as a transport reaches it. */
export interface GuardedServer {
  /** Its address. */
  readonly url: URL;
  /** Sends what is for the server. */
  readonly send: McpFetch;
  /** Sends what is for its authorization server. */
  readonly ask: McpFetch;
}

/** How to sign in at a server; undefined for one that has no provider of tokens. */
export function signInAt(
  server: McpServer,
  options: SignInOptions,
): SignIn | undefined {
  const { authProvider } = server as Partial<McpRemoteServer>;
  return authProvider && new SignIn(authProvider, options);
}

/**
 * Gets tokens for one server, for all of its transports and one at a time.
 *
 * Left to the SDK, every request that is refused would begin a sign-in of its own.
 * Two of them exchange the same refresh token, which authorization servers take for
 * theft, or send the user away twice, and only one of the two codes would fit.
 */
export class SignIn {
  readonly #provider: OAuthClientProvider;
  readonly #options: SignInOptions;
  #underWay: Attempt | undefined;
  #failure: unknown;
  #hints: Hints = {};

  /** Asks for nothing yet. */
  constructor(provider: McpOAuthProvider, options: SignInOptions) {
    this.#provider = boundProvider(provider);
    this.#options = options;
  }

  /** Why the last attempt brought no token; undefined if it did. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Forgets that the user was sent away, so that a refusal does so again. */
  startOver(): void {
    this.#failure = undefined;
  }

  /**
   * Sends a request with the token. If it is refused, waits for a newer one and sends
   * it again, once.
   *
   * @throws {UnauthorizedError} The user was sent away for a code.
   */
  async fetch(
    server: GuardedServer,
    url: string | URL,
    init: RequestInit = {},
  ): Promise<Response> {
    const send = () => this.#send(server, url, init);
    let sent = await send();
    if (isRefused(sent, init) && await this.#hasReplaced(sent.token)) {
      sent = await again(sent, send);
    }
    if (isRefused(sent, init)) {
      const renewal = this.#renew(server, sent);
      await unlessAborted(renewal, init.signal ?? undefined);
      sent = await again(sent, send);
    }
    return sent.response;
  }

  /** Turns the code that the user brought back into tokens. */
  async finish(server: GuardedServer, code: string): Promise<void> {
    await this.#authorize(server, code);
    this.#failure = undefined;
  }

  async #send(
    { send }: GuardedServer,
    url: string | URL,
    init: RequestInit,
  ): Promise<Sent> {
    const token = await this.#token();
    const headers = new Headers(init.headers);
    // A configuration that names this header means it.
    if (token !== undefined && !headers.has("authorization")) {
      headers.set("authorization", `Bearer ${token}`);
    }
    return { token, response: await send(url, { ...init, headers }) };
  }

  async #token(): Promise<string | undefined> {
    const tokens = await this.#provider.tokens();
    return tokens?.access_token;
  }

  /** True if somebody has got another token since this one was sent. */
  async #hasReplaced(token: string | undefined): Promise<boolean> {
    const current = await this.#token();
    return current !== undefined && current !== token;
  }

  #renew(server: GuardedServer, { token, response }: Sent): Promise<void> {
    const { clock, connectTimeoutMs } = this.#options;
    const running = this.#underWay;
    // One that hangs must not hold up everybody for ever.
    if (
      running !== undefined && clock.now() - running.beganMs < connectTimeoutMs
    ) {
      return running.done;
    }
    if (isUserAway(this.#failure)) return Promise.reject(this.#failure);
    this.#hints = hintsIn(response, this.#hints);
    const attempt: Attempt = {
      beganMs: clock.now(),
      done: this.#attempt(server, token).finally(() => {
        if (this.#underWay === attempt) this.#underWay = undefined;
      }),
    };
    this.#underWay = attempt;
    return attempt.done;
  }

  async #attempt(
    server: GuardedServer,
    refused: string | undefined,
  ): Promise<void> {
    this.#failure = undefined;
    try {
      await this.#authorize(server);
    } catch (error) {
      // A provider may let its user finish before it says that it sent them away.
      if (isUserAway(error) && await this.#hasReplaced(refused)) return;
      this.#failure = error;
      throw error;
    }
  }

  async #authorize(
    { url, ask }: GuardedServer,
    code?: string,
  ): Promise<void> {
    const result = await auth(this.#provider, {
      serverUrl: url,
      fetchFn: ask,
      ...this.#hints,
      ...(code !== undefined && { authorizationCode: code }),
    });
    if (result !== "AUTHORIZED") throw new UnauthorizedError();
  }
}

/** The SDK calls a member of providers without its provider. */
function boundProvider(provider: McpOAuthProvider): OAuthClientProvider {
  return new Proxy({} as OAuthClientProvider, {
    get(_, member) {
      const value: unknown = Reflect.get(provider, member);
      return typeof value === "function" ? value.bind(provider) : value;
    },
  });
}

interface Attempt {
  readonly beganMs: number;
  readonly done: Promise<void>;
}

/** A request that was answered. */
interface Sent {
  /** The token as it was then. */
  readonly token: string | undefined;
  readonly response: Response;
}

/** What a refusal says about how to get in. */
interface Hints {
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
}

function isRefused({ response }: Sent, { method }: RequestInit): boolean {
  // Nobody signs in to end a session.
  if (method === "DELETE") return false;
  return response.status === 401 ||
    response.status === 403 && method === "POST" &&
      extractWWWAuthenticateParams(response).error === "insufficient_scope";
}

async function again(
  { response }: Sent,
  send: () => Promise<Sent>,
): Promise<Sent> {
  detach(response.body?.cancel());
  return await send();
}

/** Where to ask is said once; which rights are missing is another matter each time. */
function hintsIn(refusal: Response, before: Hints): Hints {
  const { resourceMetadataUrl = before.resourceMetadataUrl, scope } =
    extractWWWAuthenticateParams(refusal);
  return {
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
    ...(scope !== undefined && { scope }),
  };
}
