import {
  McpServerError,
  McpServerManager,
  type McpToolHandler,
  type McpTransport,
} from "../../src/mcp/mod.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import {
  guardedHandler,
  MemoryProvider,
  refusal,
  TokenServer,
} from "./token_server.ts";

/** A started handler whose tokens have just expired. */
async function expired(
  { sellsRefreshTokens = true, clock = new ManualClock() } = {},
) {
  const server = new TokenServer();
  server.sellsRefreshTokens = sellsRefreshTokens;
  const provider = new MemoryProvider(server.signedIn());
  const handler = guardedHandler(server.fetch, provider, { clock });
  await handler.startup();
  server.expire();
  return { server, provider, handler };
}

async function look(
  handler: McpToolHandler,
  options: { readonly signal?: AbortSignal } = {},
) {
  return (await handler.dispatch("demo__lookup", {}, options)).data;
}

/** What became of several calls at once: the data, or the message of the error. */
async function lookTimes(handler: McpToolHandler, count: number) {
  const looks = Array.from({ length: count }, () => look(handler));
  return (await Promise.allSettled(looks)).map((outcome) =>
    outcome.status === "fulfilled" ? outcome.value : outcome.reason.message
  );
}

const needsAuthorization = "MCP server demo needs authorization";

for (const count of [2, 8]) {
  test(`${count} calls with an expired token refresh it once`, async () => {
    const { server, provider, handler } = await expired();
    assertEquals(await lookTimes(handler, count), Array(count).fill("done"));
    assertEquals(server.exchanges, ["refresh_token refresh-1"]);
    assertEquals(provider.visits, []);
    assertEquals(handler.serverStatus("demo"), { status: "connected" });

    server.expire();
    assertEquals(await lookTimes(handler, count), Array(count).fill("done"));
    assertEquals(server.exchanges, [
      "refresh_token refresh-1",
      "refresh_token refresh-2",
    ]);
    await handler.shutdown();
  });

  test(`${count} calls that need the user send them away once`, async () => {
    const { server, provider, handler } = await expired({
      sellsRefreshTokens: false,
    });
    assertEquals(
      await lookTimes(handler, count),
      Array(count).fill(needsAuthorization),
    );
    assertEquals(provider.visits.length, 1);
    assertEquals(handler.serverStatus("demo")?.status, "needs_auth");

    await handler.finishAuth("demo", server.visit(provider.visits[0]!));
    assertEquals(await lookTimes(handler, count), Array(count).fill("done"));
    assertEquals(server.exchanges, ["authorization_code code-1"]);
    await handler.shutdown();
  });
}

test(
  "real requests with an expired token refresh it once",
  { runtimes: ["deno", "node", "bun"] },
  async () => {
    const { serve } = await import("../../adapters/node/serve.ts");
    const server = new TokenServer();
    const listening = await serve(async (request) => {
      const { url, method, headers } = request;
      const body = method === "POST" ? await request.text() : null;
      return await server.fetch(url, { method, headers, body });
    });
    const { origin } = new URL(listening.url);
    const provider = new MemoryProvider(server.signedIn(`${origin}/`));
    const url = `${origin}/mcp`;
    const handler = guardedHandler(fetch, provider, {
      servers: { demo: { url, authProvider: provider } },
      http: {},
    });
    await handler.startup();
    server.expire();
    assertEquals(await lookTimes(handler, 8), Array(8).fill("done"));
    assertEquals(server.exchanges, ["refresh_token refresh-1"]);
    assertEquals(provider.visits, []);
    await handler.shutdown();
    await listening.close();
  },
);

test("a refusal that comes late is about a token that was replaced", async () => {
  const { server, provider, handler } = await expired();
  const late = deferred();
  server.beforeRefusal = () => {
    server.beforeRefusal = undefined;
    return late.promise;
  };
  const first = look(handler);
  assertEquals(await look(handler), "done");
  late.resolve();
  assertEquals(await first, "done");
  assertEquals(server.exchanges, ["refresh_token refresh-1"]);
  assertEquals(provider.visits, []);
  await handler.shutdown();
});

test("a refusal that comes late sends nobody away again", async () => {
  const { server, provider, handler } = await expired({
    sellsRefreshTokens: false,
  });
  const late = deferred();
  server.beforeRefusal = () => {
    server.beforeRefusal = undefined;
    return late.promise;
  };
  const first = look(handler);
  const answer = assertRejects(() => first, McpServerError, needsAuthorization);
  await assertRejects(() => look(handler), McpServerError, needsAuthorization);
  late.resolve();
  await answer;
  assertEquals(provider.visits.length, 1);
  await handler.finishAuth("demo", server.visit(provider.visits[0]!));
  assertEquals(await look(handler), "done");
  await handler.shutdown();
});

test("a refresh that fails fails once for all, and is tried again", async () => {
  const { server, provider, handler } = await expired();
  server.refuse = () => refusal("temporarily_unavailable");
  const failure =
    "The authorization server of MCP server demo answered temporarily_unavailable";
  assertEquals(await lookTimes(handler, 2), [failure, failure]);
  assertEquals(await lookTimes(handler, 2), ["done", "done"]);
  assertEquals(server.exchanges, [
    "refresh_token refresh-1",
    "refresh_token refresh-1",
  ]);
  assertEquals(provider.visits, []);
  await handler.shutdown();
});

test("who is sent away later gets a sign-in of their own", async () => {
  const { server, provider, handler } = await expired({
    sellsRefreshTokens: false,
  });
  for (const round of [0, 1, 2]) {
    server.expire();
    assertEquals(await lookTimes(handler, 2), [
      needsAuthorization,
      needsAuthorization,
    ]);
    assertEquals(provider.visits.length, round + 1);
    await handler.finishAuth("demo", server.visit(provider.visits[round]!));
    assertEquals(await lookTimes(handler, 2), ["done", "done"]);
  }
  await handler.shutdown();
});

test("an attempt to connect that does not get so far leaves the code its worth", async () => {
  const { server, provider, handler } = await expired({
    sellsRefreshTokens: false,
  });
  await assertRejects(() => look(handler), McpServerError, needsAuthorization);
  server.beforeRefusal = () => Promise.reject(new TypeError("refused"));
  await assertRejects(() => handler.reconnect("demo"), McpServerError);
  await handler.finishAuth("demo", server.visit(provider.visits[0]!));
  assertEquals(await look(handler), "done");
  assertEquals(provider.visits.length, 1);
  await handler.shutdown();
});

test("who connects anew sends the user away anew", async () => {
  const { server, provider, handler } = await expired({
    sellsRefreshTokens: false,
  });
  await assertRejects(() => look(handler), McpServerError, needsAuthorization);
  await assertRejects(
    () => handler.reconnect("demo"),
    McpServerError,
    needsAuthorization,
  );
  assertEquals(provider.visits.length, 2);
  await handler.finishAuth("demo", server.visit(provider.visits[1]!));
  assertEquals(await look(handler), "done");
  await handler.shutdown();
});

test("a user may be back before the provider says that they are away", async () => {
  const server = new TokenServer();
  const provider = new class extends MemoryProvider {
    override async redirectToAuthorization(url: URL): Promise<void> {
      super.redirectToAuthorization(url);
      await handler.finishAuth("demo", server.visit(url));
    }
  }();
  const handler = guardedHandler(server.fetch, provider);
  await handler.startup();
  assertEquals(handler.serverStatus("demo"), { status: "connected" });
  assertEquals(await look(handler), "done");
  assertEquals(provider.visits.length, 1);
  await handler.shutdown();
});

test("a call that is given up leaves the refresh to the others", async () => {
  const { server, handler } = await expired();
  const asked = deferred();
  const answer = deferred<Response>();
  server.refuse = () => {
    asked.resolve();
    return answer.promise;
  };
  const giving = new AbortController();
  const first = look(handler, giving);
  await asked.promise;
  giving.abort(new Error("enough"));
  await assertRejects(() => first, Error, "enough");
  const second = look(handler);
  answer.resolve(Response.json(server.sell()));
  assertEquals(await second, "done");
  assertEquals(server.exchanges, ["refresh_token refresh-1"]);
  await handler.shutdown();
});

test("a refresh that hangs does not hold up everybody for ever", async () => {
  const clock = new ManualClock();
  const { server, handler } = await expired({ clock });
  const asked = deferred();
  server.refuse = () => {
    asked.resolve();
    return new Promise(() => {});
  };
  const giving = new AbortController();
  const first = look(handler, giving);
  await asked.promise;
  clock.advance(30_000);
  assertEquals(await look(handler), "done");
  giving.abort(new Error("enough"));
  await assertRejects(() => first, Error, "enough");
  await handler.shutdown();
});

test("a server that refuses new tokens as well is asked no third time", async () => {
  const { server, provider, handler } = await expired();
  server.refuse = () => {
    const tokens = server.sell();
    server.expire();
    return Response.json(tokens);
  };
  await assertRejects(() => look(handler), McpServerError, "HTTP 401");
  assertEquals(server.exchanges, ["refresh_token refresh-1"]);
  assertEquals(await look(handler), "done");
  assertEquals(provider.visits, []);
  await handler.shutdown();
});

test("calls that need more rights send the user away once, for these", async () => {
  const server = new TokenServer();
  server.sellsRefreshTokens = false;
  const provider = new MemoryProvider(server.signedIn());
  const fetch: typeof server.fetch = (url, init) => {
    const mayWrite = server.exchanges.length > 0;
    if (mayWrite || !String(init?.body).includes("tools/call")) {
      return server.fetch(url, init);
    }
    const headers = {
      "www-authenticate": 'Bearer error="insufficient_scope", scope="write"',
    };
    return Promise.resolve(new Response(null, { status: 403, headers }));
  };
  const handler = guardedHandler(fetch, provider);
  await handler.startup();
  assertEquals(await lookTimes(handler, 2), [
    needsAuthorization,
    needsAuthorization,
  ]);
  const scopes = provider.visits.map((url) => url.searchParams.get("scope"));
  assertEquals(scopes, ["write"]);
  await handler.finishAuth("demo", server.visit(provider.visits[0]!));
  assertEquals(await lookTimes(handler, 2), ["done", "done"]);
  await handler.shutdown();
});

test("a provider proves who it is with what only it knows", async () => {
  const server = new TokenServer();
  const proofs: string[] = [];
  const provider = new class extends MemoryProvider {
    readonly #secret = "mine";
    addClientAuthentication(): void {
      proofs.push(this.#secret);
    }
  }(server.signedIn());
  server.expire();
  const handler = guardedHandler(server.fetch, Object.freeze(provider));
  await handler.startup();
  assertEquals(handler.serverStatus("demo"), { status: "connected" });
  assertEquals(proofs, ["mine"]);
  await handler.shutdown();
});

test("nobody signs in to say goodbye", async () => {
  const { server, provider, handler } = await expired();
  await handler.shutdown();
  assertEquals(server.exchanges, []);
  assertEquals(provider.visits, []);
});

for (
  const [policy, mode] of [
    ["same-origin", "manual"],
    ["follow", "follow"],
  ] as const
) {
  test(`redirects of an authorization server: ${policy}`, async () => {
    const server = new TokenServer();
    const modes: unknown[] = [];
    const fetch: typeof server.fetch = (url, init) => {
      if (new URL(url).pathname === "/token") modes.push(init?.redirect);
      return server.fetch(url, init);
    };
    const provider = new MemoryProvider(server.signedIn());
    server.expire();
    const handler = guardedHandler(fetch, provider, {
      http: { fetch, redirectPolicy: policy },
    });
    await handler.startup();
    assertEquals(handler.serverStatus("demo"), { status: "connected" });
    assertEquals(modes, [mode]);
    await handler.shutdown();
  });
}

test("a transport that was made for a code alone is closed", async () => {
  const log: string[] = [];
  const transport = (): McpTransport & { finishAuth(code: string): void } => ({
    start: () => Promise.resolve(),
    send: () => Promise.resolve(),
    finishAuth: (code) => void log.push(code),
    close: () => Promise.resolve(void log.push("closed")),
  });
  const manager = new McpServerManager({
    servers: { demo: { transport } },
    logger: new RecordingLogger(),
  });
  await manager.finishAuth("demo", "code-1");
  assertEquals(log, ["code-1", "closed"]);
});
