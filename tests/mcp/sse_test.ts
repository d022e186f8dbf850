import { McpServerError, McpToolHandler } from "../../src/mcp/mod.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { message } from "./hostile_http.ts";
import {
  guardedHandler,
  MemoryProvider,
  refusal,
  TokenServer,
} from "./token_server.ts";

/** The older kind of server: one stream for all answers, and an address to post to. */
class SseServer {
  readonly received: string[] = [];
  /** Settles when a call has come that is not answered. */
  readonly hanging = deferred();
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  #sessionCount = 0;

  /** Ends the stream, as a restart does. */
  restart(): void {
    this.#stream?.close();
  }

  readonly fetch = (
    url: string | URL,
    { method = "GET", body, signal }: RequestInit = {},
  ): Promise<Response> => {
    return Promise.resolve(
      method === "GET" ? this.#open(signal!) : this.#take(url, String(body)),
    );
  };

  #open(signal: AbortSignal): Response {
    this.#sessionCount += 1;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#stream = controller;
        signal.addEventListener("abort", () => controller.error(signal.reason));
      },
    });
    this.#send("endpoint", `/messages?session=${this.#sessionCount}`);
    return new Response(body, {
      headers: { "content-type": "text/event-stream" },
    });
  }

  #take(url: string | URL, body: string): Response {
    const session = new URL(url).searchParams.get("session");
    const { id, method, params = {} } = JSON.parse(body);
    this.received.push(`${session} ${method}`);
    if (params.name === "hang") this.hanging.resolve();
    else if (id !== undefined) {
      const result = answers[method as keyof typeof answers];
      this.#send("message", message({ id, result }));
    }
    return new Response(null, { status: 202 });
  }

  #send(event: string, data: string): void {
    const text = `event: ${event}\ndata: ${data}\n\n`;
    this.#stream?.enqueue(new TextEncoder().encode(text));
  }
}

const tools = ["look", "hang"].map((name) => ({
  name,
  inputSchema: { type: "object" },
}));

const answers = {
  "initialize": {
    protocolVersion: "2024-11-05",
    capabilities: { tools: {} },
    serverInfo: { name: "old", version: "1" },
  },
  "tools/list": { tools },
  "tools/call": { content: [{ type: "text", text: "looked" }] },
};

test("an older server that starts anew is a connection that was lost", async () => {
  const old = new SseServer();
  const handler = new McpToolHandler({
    servers: { old: { url: "https://old.example/sse" } },
    http: { fetch: old.fetch },
    logger: new RecordingLogger(),
  });
  await handler.startup();
  assertEquals((await handler.dispatch("old__look", {})).data, "looked");

  const hanging = handler.dispatch("old__hang", {});
  const refusal = assertRejects(() => hanging, McpServerError);
  await old.hanging.promise;
  old.restart();
  await refusal;
  assertEquals(handler.serverStatus("old"), { status: "closed" });

  assertEquals((await handler.dispatch("old__look", {})).data, "looked");
  assertEquals(old.received.slice(-4), [
    "2 initialize",
    "2 notifications/initialized",
    "2 tools/list",
    "2 tools/call",
  ]);
  await handler.shutdown();
});

test("an older server waits for the code of its user as well", async () => {
  const tokens = new TokenServer(new SseServer().fetch);
  const authProvider = new MemoryProvider();
  const handler = guardedHandler(tokens.fetch, authProvider, {
    servers: { old: { url: "https://old.example/sse", authProvider } },
  });
  await handler.startup();
  assertEquals(handler.serverStatus("old"), {
    status: "needs_auth",
    error: "MCP server old needs authorization",
  });
  await handler.finishAuth("old", tokens.visit(authProvider.visits[0]!));
  assertEquals((await handler.dispatch("old__look", {})).data, "looked");

  tokens.expire();
  const looks = [1, 2].map(() => handler.dispatch("old__look", {}));
  await Promise.all(looks);
  assertEquals(tokens.exchanges, [
    "authorization_code code-1",
    "refresh_token refresh-1",
  ]);
  assertEquals(authProvider.visits.length, 1);
  await handler.shutdown();
});

test("why nobody can sign in at an older server is told", async () => {
  const tokens = new TokenServer(new SseServer().fetch);
  const issuer = "https://old.example/";
  const authProvider = new MemoryProvider(tokens.signedIn(issuer));
  tokens.expire();
  tokens.refuse = () => refusal("temporarily_unavailable");
  const handler = guardedHandler(tokens.fetch, authProvider, {
    servers: { old: { url: `${issuer}sse`, authProvider } },
  });
  await handler.startup();
  assertEquals(handler.serverStatus("old"), {
    status: "failed",
    error:
      "The authorization server of MCP server old answered temporarily_unavailable",
  });
  await handler.shutdown();
});
