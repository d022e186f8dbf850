import {
  type McpOAuthProvider,
  McpServerError,
  McpToolHandler,
} from "../../src/mcp/mod.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { FakeHttpServer, FakeServer } from "./fake_server.ts";

/** A server that lets in who has the token, next to an authorization server that sells it for a code. */
function guardedServer() {
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
        : Response.json({ error: "invalid_grant" }, { status: 400 });
    }
    if (pathname !== "/mcp") return new Response(null, { status: 404 });
    const authorization = new Headers(init.headers).get("authorization");
    if (authorization === "Bearer sesame") return await http.fetch(url, init);
    return new Response("secret diagnosis", { status: 401 });
  };
  return { http, fetch };
}

/** Keeps everything in memory; `visited` is where the user was sent. */
function memoryProvider(): McpOAuthProvider & { readonly visited: URL[] } {
  const kept: { tokens?: object; verifier?: string } = {};
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

test("a server that needs authorization waits for the code of the user", async () => {
  const { fetch } = guardedServer();
  const authProvider = memoryProvider();
  const handler = new McpToolHandler({
    servers: { demo: { url: "https://demo.example/mcp", authProvider } },
    http: { fetch },
    logger: new RecordingLogger(),
  });
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
