import type { FetchHandler, HttpServer } from "../../src/http/server.ts";
import type { ChatModelAdapter } from "../../src/chat/adapter.ts";
import {
  ModelAuthenticationError,
  ModelProviderError,
  ModelRateLimitError,
  ModelTimeoutError,
} from "../../src/model/errors.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertStrictEquals,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import type { Runtime } from "../support/runtime.ts";
import { test } from "../support/suite.ts";
import {
  adapterKinds,
  type AdapterWishes,
  ask,
  contextOf,
} from "./adapters.ts";
import { bytesOf, chunk, eventsOf, oneByOne, watchedBody } from "./bodies.ts";

type Serve = (handler: FetchHandler) => Promise<HttpServer>;

const hello = eventsOf(
  chunk({ content: "Grüße, " }),
  chunk({ content: "🌍" }),
  chunk({}, "stop"),
);
const piece = `data: ${JSON.stringify(chunk({ content: "x" }))}\n\n`;

/** Registers what an adapter must do over real connections of a runtime. */
export function httpContract(runtime: Runtime, serve: Serve): void {
  for (const { kind, make } of adapterKinds) {
    /** A test with a started adapter that talks to a server of its own. */
    const serving = (
      name: string,
      handler: FetchHandler,
      body: (adapter: ChatModelAdapter, server: HttpServer) => Promise<void>,
      wishes: Omit<AdapterWishes, "fetch" | "config"> = {},
    ): void => {
      test(`${name}, over ${kind}`, { runtimes: [runtime] }, async () => {
        const server = await serve(handler);
        const config = { baseUrl: `${server.url}/v1`, timeoutMs: 1000 };
        const adapter = make({
          ...wishes,
          config,
          fetch: (url, init) => fetch(url, init),
        });
        await adapter.startup();
        try {
          await body(adapter, server);
        } finally {
          await adapter.shutdown();
          await server.close();
        }
      });
    };

    serving("answers are streamed", async (request) => {
      const { stream } = await request.json();
      assertEquals(new URL(request.url).pathname, "/v1/chat/completions");
      if (!stream) {
        return Response.json({ choices: [{ message: { content: "whole" } }] });
      }
      return new Response(watchedBody(oneByOne(bytesOf(hello))).stream, {
        headers: { "content-type": "text/event-stream" },
      });
    }, async (adapter) => {
      for (let turn = 0; turn < 3; turn++) {
        const { deltas, completed } = await ask(adapter);
        assertEquals(deltas.map(({ delta }) => delta), ["Grüße, ", "🌍"]);
        assertEquals(completed?.message.content, "Grüße, 🌍");
      }
      const signal = new AbortController().signal;
      const { message } = await adapter.complete(contextOf(), { signal });
      assertEquals(message.content, "whole");
    });

    let refusals: Response[] = [];
    serving(
      "refusals keep status, text and headers",
      () => refusals.shift()!,
      async (adapter) => {
        const error = { error: { message: "No" } };
        refusals = [
          Response.json(error, { status: 401 }),
          Response.json(error, {
            status: 429,
            headers: { "retry-after": "2" },
          }),
          Response.json(error, { status: 500 }),
          new Response("<html></html>", { status: 404 }),
          new Response("<html></html>"),
        ];
        const readings = [];
        while (refusals.length > 0) readings.push(await ask(adapter));
        const [auth, limit, broken, missing, page] = readings.map(
          ({ error }) => error,
        );
        assertInstanceOf(auth, ModelAuthenticationError);
        assertInstanceOf(limit, ModelRateLimitError);
        assertEquals(limit.retryAfterMs, 2000);
        assertInstanceOf(broken, ModelProviderError);
        assertEquals([broken.status, broken.retryable], [500, true]);
        assertInstanceOf(missing, ModelProviderError);
        assertEquals(missing.status, 404);
        assertInstanceOf(page, ModelProviderError);
        assert(page.message.includes("web page"), page.message);
      },
    );

    const strangers: string[] = [];
    serving("a redirect is not followed", (request) => {
      const { pathname } = new URL(request.url);
      if (pathname.endsWith("/elsewhere")) strangers.push(request.method);
      const status = Number(pathname.split("/")[1]);
      return new Response(null, {
        status,
        headers: { location: "/elsewhere" },
      });
    }, async (_, { url }) => {
      for (const status of [301, 302, 303, 307, 308]) {
        const adapter = make({
          config: { baseUrl: `${url}/${status}` },
          headers: { "api-key": "opensesame1" },
          fetch: (url, init) => fetch(url, init),
        });
        await adapter.startup();
        const { error } = await ask(adapter);
        assertInstanceOf(error, ModelProviderError);
        assertEquals([error.status, error.retryable], [status, false]);
        assert(error.message.includes("redirects requests"), error.message);
        await adapter.shutdown();
      }
      assertEquals(strangers, []);
    });

    serving("a cut stream is no answer and worth another try", () => {
      let sent = false;
      return new Response(
        new ReadableStream({
          pull(controller) {
            if (sent) controller.error(new Error("The server gave up"));
            else controller.enqueue(bytesOf(piece));
            sent = true;
          },
        }),
      );
    }, async (adapter) => {
      const { error, completed } = await ask(adapter);
      assertInstanceOf(error, ModelProviderError);
      assertEquals([error.kind, error.retryable], ["provider_error", true]);
      assertEquals(completed, undefined);
    });

    for (const ending of ["timeout", "abort"] as const) {
      const clock = new ManualClock();
      const gone = deferred();
      serving(`the ${ending} of a stalled stream reaches the server`, () => {
        let begun = false;
        return new Response(
          new ReadableStream({
            pull(controller) {
              if (!begun) controller.enqueue(bytesOf(piece));
              begun = true;
            },
            cancel: () => gone.resolve(),
          }, { highWaterMark: 0 }),
        );
      }, async (adapter) => {
        const controller = new AbortController();
        const { signal } = controller;
        const stream = adapter.stream(contextOf(), { signal });
        assertEquals((await stream.next()).value?.kind, "text_delta");
        const next = stream.next().catch((error: unknown) => error);
        if (ending === "abort") controller.abort(new Error("enough"));
        else await clock.advanceAsync(1000);
        const error = await next;
        if (ending === "abort") assertStrictEquals(error, signal.reason);
        else assertInstanceOf(error, ModelTimeoutError);
        await gone.promise;
        assertEquals(clock.pending, 0);
      }, { clock });
    }

    serving(
      "a server that is gone cannot be reached",
      () => new Response(),
      async (adapter, server) => {
        await server.close();
        const { error } = await ask(adapter);
        assertInstanceOf(error, ModelProviderError);
        assertEquals([error.retryable, error.unprocessed], [true, true]);
        assert(!/fetch failed|Connection error/.test(error.message));
        assert(
          error.message.includes(`could not reach ${server.url}`),
          error.message,
        );
      },
    );
  }
}
