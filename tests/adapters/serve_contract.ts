import { type ClientRequest, request as startRequest } from "node:http";
import type {
  FetchHandler,
  HttpServer,
  ServeOptions,
} from "../../src/http/server.ts";
import { modelServer } from "../../src/testing/model_server.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { deliver } from "../../src/testing/server_steps.ts";
import { block, deltas, text } from "../../src/testing/steps.ts";
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
  for (const [name, body] of Object.entries(contract)) {
    const skip = limits[runtime]?.includes(name) ?? false;
    test(name, { runtimes: [runtime], skip }, async () => {
      const servers: HttpServer[] = [];
      try {
        await body(async (handler, options) => {
          const server = await serve(handler, options);
          servers.push(server);
          return server;
        });
      } finally {
        // A server that goes on listening would keep the process of a failed test alive.
        for (const server of servers) await server.close();
      }
    });
  }
}

/** What a runtime does not give. */
const limits: Partial<Record<Runtime, readonly string[]>> = {
  // Bun sends the headers together with the first bytes.
  bun: ["headers arrive before the body has begun"],
};

const piece = new Uint8Array(100_000);
/** Pieces after which a flood ends; far more than all buffers on the way can hold. */
const flood = 150;

const unsendable = [
  "A request handler must return a Response",
  "A response with status 0 cannot be sent",
  "The body of a response was read already; return a clone of it",
  "The body of a response was read already; return a clone of it",
];

const contract: Record<string, (serve: Serve) => Promise<void>> = {
  async "a handler sees method, target, headers and body, and its response arrives"(
    serve,
  ) {
    const { url, port } = await serve(async (request) => {
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
    });
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

  async "responses without a body stay without one"(serve) {
    const { url } = await serve((request) =>
      request.method === "HEAD"
        ? new Response("not for you", { headers: { "x-length": "11" } })
        : new Response(null, { status: 204 })
    );
    const none = await fetch(url);
    assertEquals([none.status, await none.text()], [204, ""]);
    const head = await fetch(url, { method: "HEAD" });
    assertEquals(await head.text(), "");
    assertEquals(head.headers.get("x-length"), "11");
  },

  async "headers arrive before the body has begun"(serve) {
    const gate = deferred();
    const { url } = await serve(() =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            await gate.promise;
            controller.close();
          },
        }),
        { status: 202 },
      )
    );
    const response = await fetch(url);
    assertEquals(response.status, 202);
    gate.resolve();
    assertEquals(await response.text(), "");
  },

  async "pieces of a response arrive before it is complete"(serve) {
    const gate = block(text("Hello"));
    const model = modelServer([deltas(["Hel"], gate)]);
    const { url } = await serve(model.fetch);
    const response = await postStream(url);
    const [early, whole] = response.body!.tee();
    const reader = early.getReader();
    let seen = "";
    while (!seen.includes("Hel")) {
      seen += new TextDecoder().decode((await reader.read()).value);
    }
    await gate.entered;
    gate.release();
    const rest = (async () => {
      while (!(await reader.read()).done);
    })();
    assertEquals(await deltasOf(new Response(whole)), [
      { role: "assistant", content: "" },
      { content: "Hel" },
      { content: "lo" },
      "stop",
      "[DONE]",
    ]);
    await rest;
    assertEquals(model.openCount, 0);
  },

  async "pieces of a request arrive before it is complete"(serve) {
    const first = deferred<string>();
    const { url } = await serve(async ({ body }) => {
      const decoder = new TextDecoder();
      let all = "";
      for await (const bytes of body!) {
        all += decoder.decode(bytes, { stream: true });
        first.resolve(all);
      }
      return new Response(all.toUpperCase());
    });
    const { upload, answer } = startUpload(url);
    upload.write("first ");
    assertEquals(await first.promise, "first ");
    upload.end("second");
    assertEquals(await answer, "FIRST SECOND");
  },

  async "a large body travels whole in both directions"(serve) {
    const { url } = await serve(async (request) =>
      new Response(await request.arrayBuffer())
    );
    const bytes = new Uint8Array(3_000_001).map((_, index) => index);
    const response = await fetch(url, { method: "POST", body: bytes });
    assertEquals(new Uint8Array(await response.arrayBuffer()), bytes);
  },

  async "a request body that nobody reads does not block the connection"(
    serve,
  ) {
    const { url } = await serve(() => new Response("no thanks"));
    for (let turn = 0; turn < 3; turn += 1) {
      const body = "x".repeat(100_000);
      const response = await fetch(url, { method: "POST", body });
      assertEquals(await response.text(), "no thanks");
    }
  },

  async "a response is not produced faster than its client reads"(serve) {
    const cancelled = deferred();
    let produced = 0;
    const large = () =>
      new ReadableStream({
        pull(controller) {
          controller.enqueue(piece);
          produced += 1;
          if (produced === flood) controller.close();
        },
        cancel: () => cancelled.resolve(),
      }, { highWaterMark: 0 });
    const { url } = await serve((request) =>
      new Response(request.url.endsWith("/large") ? large() : "ok")
    );
    const response = await fetch(`${url}/large`);
    const reader = response.body!.getReader();
    await reader.read();
    await letServerWork(url);
    assert(
      produced < flood,
      "all was produced for a client that reads nothing",
    );
    await reader.cancel();
    await cancelled.promise;
  },

  async "a request is not taken in faster than its handler reads"(serve) {
    const begun = deferred();
    const goOn = deferred();
    const { url } = await serve(async ({ method, body }) => {
      if (method === "GET") return new Response("ok");
      let length = 0;
      for await (const bytes of body!) {
        length += bytes.length;
        begun.resolve();
        await goOn.promise;
      }
      return new Response(String(length));
    });
    const { upload, answer } = startUpload(url);
    let sent = 0;
    const send = () => {
      while (sent < flood) {
        sent += 1;
        if (!upload.write(piece)) return void upload.once("drain", send);
      }
      upload.end();
    };
    send();
    await begun.promise;
    await letServerWork(url);
    assert(sent < flood, "all was taken in for a handler that reads nothing");
    goOn.resolve();
    assertEquals(await answer, String(flood * piece.length));
  },

  async "the signal of a request that was answered does not fire"(serve) {
    const signals: AbortSignal[] = [];
    const { url } = await serve(({ signal }) => {
      signals.push(signal);
      return new Response("done");
    });
    for (let turn = 0; turn < 3; turn += 1) await (await fetch(url)).text();
    assertEquals(signals.map(({ aborted }) => aborted), [false, false, false]);
  },

  async "a client that goes away before the answer aborts the request"(serve) {
    const entered = deferred();
    const aborted = deferred();
    const logger = new RecordingLogger();
    const { url } = await serve(({ signal }) => {
      entered.resolve();
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          aborted.resolve();
          reject(signal.reason);
        });
      });
    }, { logger });
    const client = new AbortController();
    const pending = assertRejects(() => fetch(url, { signal: client.signal }));
    await entered.promise;
    client.abort();
    await pending;
    await aborted.promise;
    assertEquals(logger.warnings, []);
  },

  async "a client that goes away after a large request aborts it"(serve) {
    const entered = deferred();
    const aborted = deferred();
    const { url } = await serve(async (request) => {
      await request.arrayBuffer();
      request.signal.addEventListener("abort", () => aborted.resolve());
      entered.resolve();
      await aborted.promise;
      return new Response("nobody reads this");
    });
    const client = new AbortController();
    const pending = assertRejects(() =>
      fetch(url, { method: "POST", body: piece, signal: client.signal })
    );
    await entered.promise;
    client.abort();
    await pending;
    await aborted.promise;
  },

  async "a client that goes away amid the answer cancels its body and aborts the request"(
    serve,
  ) {
    const cancelled = deferred();
    const aborted = deferred();
    const { url } = await serve(({ signal }) => {
      signal.addEventListener("abort", () => aborted.resolve());
      return new Response(
        new ReadableStream({
          start: (controller) =>
            controller.enqueue(new TextEncoder().encode("begun")),
          cancel: () => cancelled.resolve(),
        }),
      );
    });
    const client = new AbortController();
    const response = await fetch(url, { signal: client.signal });
    const reader = response.body!.getReader();
    await reader.read();
    const rest = assertRejects(() => reader.read());
    client.abort();
    await rest;
    await cancelled.promise;
    await aborted.promise;
  },

  async "an answer that breaks off does not look complete"(serve) {
    const model = modelServer([deliver(text("Hello"), { cutAfterEvents: 2 })]);
    const logger = new RecordingLogger();
    const { url } = await serve(model.fetch, { logger });
    await assertRejects(async () => await (await postStream(url)).text());
    assertEquals(model.openCount, 0);
  },

  async "a handler that throws answers 500 and tells the operator alone"(
    serve,
  ) {
    const logger = new RecordingLogger();
    const error = new Error("secret");
    const { url } = await serve(() => Promise.reject(error), { logger });
    const response = await fetch(url);
    assertEquals(response.status, 500);
    assertEquals(await response.text(), "Internal Server Error");
    assertEquals(logger.warnings, [
      { message: "A request handler failed", details: { error } },
    ]);
  },

  async "an answer that cannot be sent is a failure of its handler"(serve) {
    const logger = new RecordingLogger();
    const used = new Response("used");
    await used.text();
    const locked = new Response("locked");
    locked.body!.getReader();
    const answers = [undefined, Response.error(), used, locked];
    const { url } = await serve(() => answers.shift()!, { logger });
    for (const message of unsendable) {
      const response = await fetch(url);
      assertEquals(response.status, 500);
      assertEquals(await response.text(), "Internal Server Error");
      const { error } = logger.warnings.at(-1)!.details as { error: Error };
      assertEquals([error.name, error.message], ["TypeError", message]);
    }
    assertEquals(logger.warnings.length, unsendable.length);
  },

  async "a body that cannot be cancelled does no harm"(serve) {
    const logger = new RecordingLogger();
    const entered = deferred();
    const aborted = deferred();
    const failing = () =>
      new Response(
        new ReadableStream({
          cancel: () => {
            throw new Error("It does not end");
          },
        }),
      );
    const endless = () =>
      new Response(
        new ReadableStream({ cancel: () => new Promise<void>(() => {}) }),
      );
    const { url } = await serve(async ({ method, signal, url }) => {
      if (method === "HEAD") return url.endsWith("/1") ? failing() : endless();
      if (!url.endsWith("/left")) return new Response("ok");
      signal.addEventListener("abort", () => aborted.resolve());
      entered.resolve();
      await aborted.promise;
      return failing();
    }, { logger });
    for (const path of ["/1", "/2"]) {
      const head = await fetch(url + path, { method: "HEAD" });
      assertEquals([head.status, await head.text()], [200, ""]);
    }
    const client = new AbortController();
    const pending = assertRejects(() =>
      fetch(`${url}/left`, { signal: client.signal })
    );
    await entered.promise;
    client.abort();
    await pending;
    await aborted.promise;
    assertEquals(await (await fetch(url)).text(), "ok");
    assertEquals(logger.warnings, []);
  },

  async "a body whose client left before it was read is an error"(serve) {
    const entered = deferred();
    const read = deferred<string>();
    const { url } = await serve(async (request) => {
      const left = new Promise((resolve) =>
        request.signal.addEventListener("abort", resolve)
      );
      entered.resolve();
      await left;
      read.resolve(await request.text().catch(() => "broke off"));
      return new Response();
    });
    const { upload, answer } = startUpload(url);
    upload.write("half of");
    await entered.promise;
    upload.destroy();
    await assertRejects(() => answer);
    assertEquals(await read.promise, "broke off");
  },

  async "a path that begins with two slashes names no host"(serve) {
    const { url } = await serve((request) => new Response(request.url));
    const seen = await (await fetch(`${url}//elsewhere.test/a?b=c`)).text();
    // Bun makes one slash of the two.
    assertEquals(
      seen.replace(url, "").replace("//", "/"),
      "/elsewhere.test/a?b=c",
    );
  },

  async "closing aborts open requests and frees the port"(serve) {
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

    const next = await serve(() => new Response("new"), { port: server.port });
    assertEquals(next.port, server.port);
    assertEquals(await (await fetch(next.url)).text(), "new");
  },

  async "a port that is taken is an error"(serve) {
    const { port } = await serve(() => new Response("first"));
    await assertRejects(() => serve(() => new Response("second"), { port }));
  },
};

function postStream(url: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ ...plainBody, stream: true }),
  });
}

/** A request whose body the test writes by hand; `fetch` would hold it back here and there. */
function startUpload(
  url: string,
): { readonly upload: ClientRequest; readonly answer: Promise<string> } {
  const answer = deferred<string>();
  const upload = startRequest(url, { method: "POST" }, (reply) => {
    let body = "";
    reply.on("data", (bytes: Uint8Array) => {
      body += new TextDecoder().decode(bytes);
    });
    reply.on("end", () => answer.resolve(body));
  });
  upload.on("error", (error) => answer.reject(error));
  return { upload, answer: answer.promise };
}

/** Gives a server as much time for other work as a hundred requests take. */
async function letServerWork(url: string): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) {
    assertEquals(await (await fetch(url)).text(), "ok");
  }
}
