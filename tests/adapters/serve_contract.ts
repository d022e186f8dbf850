import { request as startRequest } from "node:http";
import type {
  FetchHandler,
  HttpServer,
  ServeOptions,
} from "../../src/http/server.ts";
import { modelServer } from "../../src/testing/model_server.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { block, deltas, text } from "../../src/testing/steps.ts";
import { deliver } from "../../src/testing/server_steps.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import type { Runtime } from "../support/runtime.ts";
import { test } from "../support/suite.ts";
import { deltasOf, plainBody } from "../testing/wire.ts";

type Serve = (
  handler: FetchHandler,
  options?: ServeOptions,
) => Promise<HttpServer>;

/** Registers what every server adapter must do, on the runtime it is for. */
export function serveContract(runtime: Runtime, serve: Serve): void {
  /** A test with a server that is closed whatever happens. */
  function serving(
    name: string,
    handler: FetchHandler,
    body: (server: HttpServer) => Promise<void>,
    options: ServeOptions = {},
  ): void {
    test(name, { runtimes: [runtime] }, async () => {
      const server = await serve(handler, options);
      try {
        await body(server);
      } finally {
        await server.close();
      }
    });
  }

  serving(
    "a handler sees method, target, headers and body, and its response arrives",
    async (request) => {
      const { pathname, search } = new URL(request.url);
      const line = [
        request.method,
        pathname + search,
        request.headers.get("x-test"),
        await request.text(),
      ];
      const headers = new Headers({ "content-type": "application/json" });
      headers.append("set-cookie", "a=1");
      headers.append("set-cookie", "b=2");
      return new Response(JSON.stringify(line), { status: 201, headers });
    },
    async ({ url, port }) => {
      assertEquals(url, `http://127.0.0.1:${port}`);
      const response = await fetch(`${url}/a%20b?c=d&c=e`, {
        method: "POST",
        headers: { "x-test": "yes" },
        body: "grüß",
      });
      assertEquals(response.status, 201);
      assertEquals(response.headers.getSetCookie(), ["a=1", "b=2"]);
      assertEquals(await response.json(), [
        "POST",
        "/a%20b?c=d&c=e",
        "yes",
        "grüß",
      ]);
    },
  );

  serving(
    "responses without a body stay without one",
    (request) =>
      request.method === "HEAD"
        ? new Response("not for you", { headers: { "x-length": "11" } })
        : new Response(null, { status: 204 }),
    async ({ url }) => {
      const none = await fetch(url);
      assertEquals([none.status, await none.text()], [204, ""]);
      const head = await fetch(url, { method: "HEAD" });
      assertEquals(await head.text(), "");
      assertEquals(head.headers.get("x-length"), "11");
    },
  );

  test(
    "pieces of a response arrive before it is complete",
    { runtimes: [runtime] },
    async () => {
      const gate = block(text("Hello"));
      const model = modelServer([deltas(["Hel"], gate)]);
      const server = await serve(model.fetch);
      const response = await fetch(`${server.url}/v1/chat/completions`, {
        method: "POST",
        body: JSON.stringify({ ...plainBody, stream: true }),
      });
      const [early, rest] = response.body!.tee();
      const reader = early.getReader();
      let seen = "";
      while (!seen.includes("Hel")) {
        seen += new TextDecoder().decode((await reader.read()).value);
      }
      await gate.entered;
      gate.release();
      const drain = (async () => {
        while (!(await reader.read()).done);
      })();
      assertEquals(await deltasOf(new Response(rest)), [
        { role: "assistant", content: "" },
        { content: "Hel" },
        { content: "lo" },
        "stop",
        "[DONE]",
      ]);
      await drain;
      assertEquals(model.openCount, 0);
      await server.close();
    },
  );

  test(
    "pieces of a request arrive before it is complete",
    { runtimes: [runtime] },
    async () => {
      const first = deferred<string>();
      const server = await serve(async ({ body }) => {
        const decoder = new TextDecoder();
        let all = "";
        for await (const piece of body!) {
          all += decoder.decode(piece, { stream: true });
          first.resolve(all);
        }
        return new Response(all.toUpperCase());
      });
      const answer = deferred<string>();
      const upload = startRequest(server.url, { method: "POST" }, (reply) => {
        let body = "";
        reply.on("data", (piece: Uint8Array) => {
          body += new TextDecoder().decode(piece);
        });
        reply.on("end", () => answer.resolve(body));
      });
      upload.write("first ");
      assertEquals(await first.promise, "first ");
      upload.end("second");
      assertEquals(await answer.promise, "FIRST SECOND");
      await server.close();
    },
  );

  test(
    "the signal of a request that was answered does not fire",
    { runtimes: [runtime] },
    async () => {
      const signals: AbortSignal[] = [];
      const server = await serve(({ signal }) => {
        signals.push(signal);
        return new Response("done");
      });
      for (let turn = 0; turn < 3; turn += 1) {
        await (await fetch(server.url)).text();
      }
      assertEquals(signals.map(({ aborted }) => aborted), [
        false,
        false,
        false,
      ]);
      await server.close();
    },
  );

  serving(
    "a large body travels whole in both directions",
    async (request) => new Response(await request.arrayBuffer()),
    async ({ url }) => {
      const bytes = new Uint8Array(3_000_001).map((_, index) => index);
      const response = await fetch(url, { method: "POST", body: bytes });
      assertEquals(new Uint8Array(await response.arrayBuffer()), bytes);
    },
  );

  test(
    "a request body that nobody reads does not block the connection",
    { runtimes: [runtime] },
    async () => {
      const server = await serve(() => new Response("no thanks"));
      for (let turn = 0; turn < 3; turn += 1) {
        const response = await fetch(server.url, {
          method: "POST",
          body: "x".repeat(100_000),
        });
        assertEquals(await response.text(), "no thanks");
      }
      await server.close();
    },
  );

  test(
    "a client that goes away before the answer aborts the request",
    { runtimes: [runtime] },
    async () => {
      const entered = deferred();
      const aborted = deferred();
      const logger = new RecordingLogger();
      const server = await serve(({ signal }) => {
        entered.resolve();
        return new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            aborted.resolve();
            reject(signal.reason);
          });
        });
      }, { logger });
      const client = new AbortController();
      const pending = assertRejects(() =>
        fetch(server.url, { signal: client.signal })
      );
      await entered.promise;
      client.abort();
      await pending;
      await aborted.promise;
      await server.close();
      assertEquals(logger.warnings, []);
    },
  );

  test(
    "a client that goes away amid the answer cancels its body",
    { runtimes: [runtime] },
    async () => {
      const cancelled = deferred();
      const server = await serve(() =>
        new Response(
          new ReadableStream({
            start: (controller) =>
              controller.enqueue(new TextEncoder().encode("begun")),
            cancel: () => cancelled.resolve(),
          }),
        )
      );
      const client = new AbortController();
      const response = await fetch(server.url, { signal: client.signal });
      const reader = response.body!.getReader();
      await reader.read();
      const rest = assertRejects(() => reader.read());
      client.abort();
      await rest;
      await cancelled.promise;
      await server.close();
    },
  );

  test(
    "a body is not produced faster than its client reads",
    { runtimes: [runtime] },
    async () => {
      const piece = new Uint8Array(1_000_000);
      const cancelled = deferred();
      let produced = 0;
      const endless = () =>
        new ReadableStream({
          pull(controller) {
            produced += 1;
            controller.enqueue(piece);
          },
          cancel: () => cancelled.resolve(),
        }, { highWaterMark: 0 });
      const server = await serve(({ url }) =>
        new Response(url.endsWith("/endless") ? endless() : "ok")
      );
      const response = await fetch(`${server.url}/endless`);
      const reader = response.body!.getReader();
      await reader.read();
      for (let turn = 0; turn < 100; turn += 1) {
        assertEquals(await (await fetch(server.url)).text(), "ok");
      }
      assert(produced < 90, `${produced} pieces for a client that reads none`);
      await reader.cancel();
      await cancelled.promise;
      await server.close();
    },
  );

  test(
    "an answer that breaks off does not look complete",
    { runtimes: [runtime] },
    async () => {
      const model = modelServer([
        deliver(text("Hello"), { cutAfterEvents: 2 }),
      ]);
      const server = await serve(model.fetch);
      await assertRejects(async () => {
        const response = await fetch(`${server.url}/v1/chat/completions`, {
          method: "POST",
          body: JSON.stringify({ ...plainBody, stream: true }),
        });
        await response.text();
      });
      assertEquals(model.openCount, 0);
      await server.close();
    },
  );

  test(
    "a handler that throws answers 500 and tells the operator alone",
    { runtimes: [runtime] },
    async () => {
      const logger = new RecordingLogger();
      const error = new Error("secret");
      const server = await serve(() => Promise.reject(error), { logger });
      const response = await fetch(server.url);
      assertEquals(response.status, 500);
      assertEquals(await response.text(), "Internal Server Error");
      assertEquals(logger.warnings, [
        { message: "A request handler failed", details: { error } },
      ]);
      await server.close();
    },
  );

  test(
    "closing aborts open requests and frees the port",
    { runtimes: [runtime] },
    async () => {
      const entered = deferred();
      const aborted = deferred();
      const server = await serve(({ signal }) => {
        signal.addEventListener("abort", () => aborted.resolve());
        entered.resolve();
        return new Promise<Response>(() => {});
      });
      const pending = assertRejects(() => fetch(server.url));
      await entered.promise;
      await server.close();
      await server.close();
      await pending;
      await aborted.promise;
      await assertRejects(() => fetch(server.url));

      const next = await serve(() => new Response("new"), {
        port: server.port,
      });
      assertEquals(next.port, server.port);
      assertEquals(await (await fetch(next.url)).text(), "new");
      await next.close();
    },
  );

  serving(
    "a port that is taken is an error",
    () => new Response("first"),
    async ({ port }) => {
      await assertRejects(() => serve(() => new Response(), { port }));
    },
  );
}
