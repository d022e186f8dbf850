import {
  type McpOAuthProvider,
  McpServerError,
  McpToolHandler,
} from "../../src/mcp/mod.ts";
import { calls, text } from "../../src/testing/mod.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { agentWith } from "../agent/fixtures.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { FakeHttpServer, FakeServer } from "./fake_server.ts";
import { handlerOver } from "./kit.ts";

/** What the parts of a guarded server can be told. */
interface Guard {
  /** Says which methods need a token; all if omitted. */
  readonly guards?: (method: string) => boolean;
  /** Answers a request for tokens that has not the right code. */
  readonly refuse?: () => Response;
  /** The token that is let in; the one that is sold if omitted. */
  readonly wanted?: string;
}

/** A server that lets in who has the token, next to an authorization server that sells it for a code. */
function guardedServer(
  { guards = () => true, refuse = refuseGrant, wanted = "sesame" }: Guard = {},
) {
  const http = new FakeHttpServer(new FakeServer());
  const fetch = async (
    url: string | URL,
    init: RequestInit = {},
  ): Promise<Response> => {
    const { pathname } = new URL(url);
    if (pathname === "/token") {
      const code = new URLSearchParams(String(init.body)).get("code");
      return code === "right"
        ? Response.json({ access_token: "sesame", token_type: "Bearer" })
        : refuse();
    }
    if (pathname !== "/mcp") return new Response(null, { status: 404 });
    const authorization = new Headers(init.headers).get("authorization");
    const { method } = JSON.parse(String(init.body ?? "{}"));
    if (authorization === `Bearer ${wanted}` || !guards(method)) {
      return await http.fetch(url, init);
    }
    return new Response("secret diagnosis", { status: 401 });
  };
  return { http, fetch };
}

function refuseGrant(): Response {
  return Response.json({ error: "invalid_grant" }, { status: 400 });
}

/** Keeps everything in memory; `visited` is where the user was sent. */
function memoryProvider(
  kept: { tokens?: object; verifier?: string } = {},
): McpOAuthProvider & { readonly visited: URL[] } {
  const visited: URL[] = [];
  return {
    visited,
    redirectUrl: "https://client.example/back",
    clientMetadata: { redirect_uris: ["https://client.example/back"] },
    clientInformation: () => ({ client_id: "c1" }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    redirectToAuthorization: (url) => void visited.push(url),
    saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier ?? "",
  };
}

type Fetch = ReturnType<typeof guardedServer>["fetch"];

function handlerFor(fetch: Fetch, authProvider: McpOAuthProvider) {
  return new McpToolHandler({
    servers: { demo: { url: "https://demo.example/mcp", authProvider } },
    http: { fetch },
    logger: new RecordingLogger(),
  });
}

test("a server that needs authorization waits for the code of the user", async () => {
  const { fetch } = guardedServer();
  const authProvider = memoryProvider();
  const handler = handlerFor(fetch, authProvider);
  await handler.startup();
  assertEquals(handler.serverStatus("demo"), {
    status: "needs_auth",
    error: "MCP server demo needs authorization",
  });
  assertEquals(authProvider.visited.map(({ pathname }) => pathname), [
    "/authorize",
  ]);

  await assertRejects(
    () => handler.finishAuth("demo", "wrong"),
    McpServerError,
  );
  assertEquals(handler.toolNames, []);
  await handler.finishAuth("demo", "right");
  assertEquals(handler.serverStatus("demo"), { status: "connected" });
  assertEquals((await handler.dispatch("demo__lookup", {})).data, "done");
  await handler.shutdown();
});

test("a call that needs authorization fails, and the run goes on", async () => {
  const { fetch } = guardedServer({
    guards: (method) => method === "tools/call",
  });
  const authProvider = memoryProvider();
  const handler = handlerFor(fetch, authProvider);
  const { agent } = agentWith([
    calls(["demo__lookup"]),
    calls(["demo__lookup"]),
    text("It wants to know who I am."),
  ], { tools: [handler] });
  const { output } = await agent.run("Look it up");
  assertEquals(output, "It wants to know who I am.");
  const refusal = JSON.stringify({
    status: "error",
    tool: "demo__lookup",
    error: "MCP server demo needs authorization",
  });
  assertEquals(
    agent.state.messages.filter(({ role }) => role === "tool")
      .map(({ content }) => content),
    [refusal, refusal],
  );
  assertEquals(handler.serverStatus("demo")?.status, "needs_auth");
  // The second call must not make the first code worthless.
  assertEquals(authProvider.visited.length, 1);

  await handler.finishAuth("demo", "right");
  assertEquals((await handler.dispatch("demo__lookup", {})).data, "done");
  await agent.shutdown();
});

test("a code that comes back leaves the calls alone that are under way", async () => {
  let isGuarded = false;
  const { http, fetch } = guardedServer({ guards: () => isGuarded });
  const begun = deferred();
  const hanging = deferred();
  http.server.options.call = async () => {
    begun.resolve();
    await hanging.promise;
  };
  const handler = handlerFor(fetch, memoryProvider());
  await handler.startup();
  const waiting = handler.dispatch("demo__lookup", {});
  await begun.promise;
  isGuarded = true;
  await assertRejects(
    () => handler.dispatch("demo__lookup", {}),
    McpServerError,
    "needs authorization",
  );
  await handler.finishAuth("demo", "right");
  assertEquals(handler.serverStatus("demo"), { status: "connected" });
  hanging.resolve();
  assertEquals((await waiting).data, "done");
  await handler.shutdown();
});

test("a code may come back to another process", async () => {
  const { fetch } = guardedServer();
  const kept = {};
  const first = handlerFor(fetch, memoryProvider(kept));
  await first.startup();
  await first.shutdown();

  const second = handlerFor(fetch, memoryProvider(kept));
  await second.finishAuth("demo", "right");
  assertEquals(second.toolNames, []);
  await second.startup();
  assertEquals(second.serverStatus("demo"), { status: "connected" });
  await second.shutdown();
});

test("a code that opens nothing is an error", async () => {
  const { fetch } = guardedServer({ wanted: "another token" });
  const authProvider = memoryProvider();
  const handler = handlerFor(fetch, authProvider);
  await handler.startup();
  await assertRejects(
    () => handler.finishAuth("demo", "right"),
    McpServerError,
    "MCP server demo needs authorization",
  );
  assertEquals(handler.serverStatus("demo")?.status, "needs_auth");
  await handler.shutdown();
});

test("what an authorization server wrote is not repeated", async () => {
  const { fetch } = guardedServer({
    refuse: () => new Response("secret diagnosis", { status: 500 }),
  });
  const handler = handlerFor(fetch, memoryProvider());
  await handler.startup();
  const error = await assertRejects(
    () => handler.finishAuth("demo", "wrong"),
    McpServerError,
  );
  assertEquals(
    error.message,
    "The authorization server of MCP server demo answered server_error",
  );
  await handler.shutdown();
});

test("a server without a provider takes no code", async () => {
  const handler = new McpToolHandler({
    servers: { demo: { url: "https://demo.example/mcp" } },
    logger: new RecordingLogger(),
  });
  await assertRejects(
    () => handler.finishAuth("demo", "code"),
    McpServerError,
    "MCP server demo has no authProvider, which would take the code",
  );
});

test("a transport without authorization takes no code", async () => {
  const handler = handlerOver({ demo: new FakeServer() });
  await handler.startup();
  await assertRejects(
    () => handler.finishAuth("demo", "right"),
    McpServerError,
    "a transport that knows no authorization",
  );
  assertEquals(handler.serverStatus("demo"), { status: "connected" });
  await handler.shutdown();
});

test("a required server without authorization fails the start-up", async () => {
  const { fetch } = guardedServer();
  const authProvider = memoryProvider();
  const url = "https://demo.example/mcp";
  const handler = new McpToolHandler({
    servers: { demo: { url, authProvider, required: true } },
    http: { fetch },
    logger: new RecordingLogger(),
  });
  await assertRejects(
    () => handler.startup(),
    McpServerError,
    "MCP server demo needs authorization",
  );
});

test("a server that failed can be tried again", async () => {
  const { http, fetch } = guardedServer();
  const url = "https://demo.example/mcp";
  const handler = new McpToolHandler({
    servers: { demo: { url, auth: "sesame" } },
    http: { fetch },
    logger: new RecordingLogger(),
  });
  http.refusal = 503;
  await handler.startup();
  assertEquals(handler.serverStatus("demo")?.status, "failed");
  await assertRejects(
    () => handler.reconnect("demo"),
    McpServerError,
    "HTTP 503",
  );
  http.refusal = null;
  await handler.reconnect("demo");
  assertEquals(handler.toolNames, ["demo__lookup"]);
  await assertRejects(() => handler.reconnect("other"), RangeError);
  await handler.shutdown();
});
