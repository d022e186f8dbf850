import type { FetchLike } from "../../src/chat/transport.ts";
import type { ModelStreamEvent } from "../../src/model/adapter.ts";
import {
  ModelProviderError,
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
import { settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { adapterKinds, ask, contextOf, readAll } from "./adapters.ts";
import { bytesOf, chunk, eventsOf, watchedBody } from "./bodies.ts";

const piece = `data: ${JSON.stringify(chunk({ content: "x" }))}\n\n`;
const timeoutMs = 1000;

for (const { kind, make } of adapterKinds) {
  test(`a server that does not answer runs into the timeout, over ${kind}`, async () => {
    for (const obedient of bothWays(kind)) {
      const clock = new ManualClock();
      const { fetch, signals } = stalling("before the response", obedient);
      const adapter = make({ ...limited(clock), fetch });
      await adapter.startup();
      const reading = ask(adapter);
      await clock.advanceAsync(timeoutMs - 1);
      assertEquals(signals.map(({ aborted }) => aborted), [false]);
      await clock.advanceAsync(1);
      const { error } = await reading;
      assertInstanceOf(error, ModelTimeoutError);
      assertEquals(error.retryable, true);
      assert(error.message.includes("no response"), error.message);
      assert(error.message.includes("1000 ms"), error.message);
      assertEquals(signals.map(({ aborted }) => aborted), [true]);
      assertEquals(clock.pending, 0);
    }
  });

  test(`each wait for more has the whole time, over ${kind}`, async () => {
    const clock = new ManualClock();
    const { body, push } = pushedBody();
    const adapter = make({
      ...limited(clock),
      fetch: () => Promise.resolve(new Response(body)),
    });
    await adapter.startup();
    const reading = ask(adapter);
    for (let count = 0; count < 5; count++) {
      await clock.advanceAsync(timeoutMs - 1);
      push(piece);
      await settle();
    }
    await clock.advanceAsync(timeoutMs);
    const { deltas, error } = await reading;
    assertEquals(deltas.length, 5);
    assertInstanceOf(error, ModelTimeoutError);
    assert(error.message.includes("no further data"), error.message);
    assertEquals(clock.pending, 0);
  });

  test(`what follows an answer has the time of one wait, over ${kind}`, async () => {
    const clock = new ManualClock();
    const { body, push, state } = pushedBody();
    const adapter = make({
      ...limited(clock),
      fetch: () => Promise.resolve(new Response(body)),
    });
    await adapter.startup();
    push(`data: ${JSON.stringify(chunk({ content: "Hi" }, "stop"))}\n\n`);
    const reading = ask(adapter);
    await settle();
    for (let count = 0; count < 3; count++) {
      await clock.advanceAsync(timeoutMs / 4);
      push(": keep-alive\n\n");
      await settle();
    }
    await clock.advanceAsync(timeoutMs / 4);
    const { error } = await reading;
    assertInstanceOf(error, ModelTimeoutError);
    assertEquals([state.cancelled, clock.pending], [true, 0]);
  });

  test(`time that the reader takes does not count, over ${kind}`, async () => {
    const clock = new ManualClock();
    const body = watchedBody([
      bytesOf(piece),
      bytesOf(eventsOf(chunk({}, "stop"))),
    ]);
    const adapter = make({
      ...limited(clock),
      fetch: () => Promise.resolve(new Response(body.stream)),
    });
    await adapter.startup();
    const stream = adapter.stream(contextOf(), callWith());
    assertEquals((await stream.next()).value, {
      kind: "text_delta",
      delta: "x",
    });
    await clock.advanceAsync(10 * timeoutMs);
    assertEquals((await readAll(stream)).error, undefined);
    assertEquals([body.ended, clock.pending], ["read", 0]);
  });

  test(`a refusal whose body never ends still has its status, over ${kind}`, {
    skip: kind === "injected openai client",
  }, async () => {
    const clock = new ManualClock();
    const { body, push } = pushedBody();
    const response = new Response(body, { status: 401 });
    const adapter = make({
      ...limited(clock),
      fetch: () => Promise.resolve(response),
    });
    await adapter.startup();
    push('{"error": {"mess');
    const reading = ask(adapter);
    await clock.advanceAsync(timeoutMs);
    const { error } = await reading;
    assertInstanceOf(error, ModelProviderError);
    assertEquals([error.code, error.status], ["authentication", 401]);
  });

  test(`a refusal that trickles in gets the time of one wait, over ${kind}`, {
    skip: kind === "injected openai client",
  }, async () => {
    const clock = new ManualClock();
    const { body, push, state } = pushedBody();
    const adapter = make({
      ...limited(clock),
      fetch: () => Promise.resolve(new Response(body, { status: 429 })),
    });
    await adapter.startup();
    const reading = ask(adapter);
    for (const piece of ["Slow ", "do", "wn"]) {
      await clock.advanceAsync(timeoutMs / 4);
      push(piece);
      await settle();
    }
    await clock.advanceAsync(timeoutMs / 4);
    const { error } = await reading;
    assertInstanceOf(error, ModelProviderError);
    assertEquals(error.code, "rate_limit");
    assert(error.message.endsWith("429: Slow down"), error.message);
    assertEquals([state.cancelled, clock.pending], [true, 0]);
  });

  test(`a server that stays connected behind the end is left soon, over ${kind}`, async () => {
    const clock = new ManualClock();
    const { body, push, state } = pushedBody();
    const adapter = make({
      ...limited(clock),
      fetch: () => Promise.resolve(new Response(body)),
    });
    await adapter.startup();
    push(eventsOf(chunk({ content: "Hi" }, "stop")));
    const completed = deferred<ModelStreamEvent>();
    const reading = (async () => {
      for await (const event of adapter.stream(contextOf(), callWith())) {
        if (event.kind === "completed") completed.resolve(event);
      }
    })();
    await completed.promise;
    assertEquals(state.cancelled, false);
    await clock.advanceAsync(50);
    await reading;
    assertEquals([state.cancelled, clock.pending], [true, 0]);
  });

  test(`an abort ends every wait with its own reason, over ${kind}`, async () => {
    const reason = new Error("enough");
    for (const obedient of bothWays(kind)) {
      for (const moment of moments) {
        const controller = new AbortController();
        const { fetch, body } = stalling(moment, obedient);
        const adapter = make({ fetch });
        await adapter.startup();
        if (moment === "before the request") controller.abort(reason);
        const reading = ask(adapter, contextOf(), controller.signal);
        await settle();
        controller.abort(reason);
        const { error, completed } = await reading;
        assertStrictEquals(error, reason, moment);
        assertEquals(completed, undefined);
        await settle();
        if (body !== undefined) {
          assert(body.state.cancelled, `${moment}: the body is open`);
        }
      }
    }
  });

  test(`a response that comes after the abort is cancelled, over ${kind}`, async () => {
    if (kind === "injected openai client") return;
    const late = deferred<Response>();
    const { body, state } = pushedBody();
    const controller = new AbortController();
    const adapter = make({ fetch: () => late.promise });
    await adapter.startup();
    const reading = ask(adapter, contextOf(), controller.signal);
    await settle();
    controller.abort();
    assertStrictEquals((await reading).error, controller.signal.reason);
    late.resolve(new Response(body));
    await settle();
    assertEquals(state.cancelled, true);
  });

  test(`a request that fails after the abort troubles nobody, over ${kind}`, async () => {
    const late = deferred<Response>();
    const controller = new AbortController();
    const adapter = make({ fetch: () => late.promise });
    await adapter.startup();
    const reading = ask(adapter, contextOf(), controller.signal);
    await settle();
    controller.abort();
    await reading;
    late.reject(new TypeError("too late"));
    await settle();
  });

  test(`a reader that stops early closes the body, over ${kind}`, async () => {
    const { body, push, state } = pushedBody();
    const clock = new ManualClock();
    const adapter = make({
      ...limited(clock),
      fetch: () => Promise.resolve(new Response(body)),
    });
    await adapter.startup();
    push(piece);
    for await (const event of adapter.stream(contextOf(), callWith())) {
      assertEquals(event.kind, "text_delta");
      break;
    }
    await settle();
    assertEquals([state.cancelled, clock.pending], [true, 0]);
  });

  test(`a body that just ends under an abort is no answer, over ${kind}`, async () => {
    const controller = new AbortController();
    const { body, push, end } = pushedBody();
    const adapter = make({ fetch: () => Promise.resolve(new Response(body)) });
    await adapter.startup();
    push(
      eventsOf(chunk({ content: "Hi" }, "stop")).replace(
        "data: [DONE]\n\n",
        "",
      ),
    );
    const reading = ask(adapter, contextOf(), controller.signal);
    await settle();
    end();
    controller.abort();
    assertStrictEquals((await reading).error, controller.signal.reason);
  });

  test(`a failure at any read is a provider error and closes the body, over ${kind}`, async () => {
    const pieces = Array.from({ length: 4 }, () => bytesOf(piece));
    for (let failing = 0; failing <= pieces.length; failing++) {
      let pulls = 0;
      const broken = new ReadableStream({
        pull(controller) {
          if (pulls === failing) {
            controller.error(new TypeError("network is gone"));
          } else controller.enqueue(pieces[pulls]!);
          pulls++;
        },
      }, { highWaterMark: 0 });
      const adapter = make({
        fetch: () => Promise.resolve(new Response(broken)),
      });
      await adapter.startup();
      const { deltas, error } = await ask(adapter);
      assertEquals(deltas.length, failing);
      assertInstanceOf(error, ModelProviderError);
      assertEquals([error.kind, error.retryable], ["provider_error", true]);
    }
  });
}

test("a fetch that throws at once fails like one that rejects", async () => {
  const adapter = adapterKinds[0]!.make({
    fetch: () => {
      throw new TypeError("no such thing");
    },
  });
  await adapter.startup();
  const { error } = await ask(adapter);
  assertInstanceOf(error, ModelProviderError);
  assertEquals(error.retryable, true);
});

const moments = [
  "before the request",
  "before the response",
  "before a piece",
  "between pieces",
] as const;

/** Whether a fetch minds its signal; a client of somebody else needs one that does. */
function bothWays(kind: string): readonly boolean[] {
  return kind === "injected openai client" ? [true] : [true, false];
}

/** A fetch that gets stuck at a moment, and the body that must be closed then. */
function stalling(moment: typeof moments[number], obedient: boolean) {
  const signals: AbortSignal[] = [];
  const early = moment === "before the request" ||
    moment === "before the response";
  const body = early ? undefined : pushedBody();
  if (moment === "between pieces") body?.push(piece);
  const fetch: FetchLike = (_, init) => {
    const signal = init.signal!;
    signals.push(signal);
    return new Promise((resolve, reject) => {
      if (obedient) {
        signal.addEventListener("abort", () => {
          reject(signal.reason);
          body?.fail(signal.reason);
        });
      }
      if (body !== undefined) resolve(new Response(body.body));
    });
  };
  return { fetch, body, signals };
}

/** A body that a test fills piece by piece. */
function pushedBody() {
  const state = { cancelled: false };
  let controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (own) => void (controller = own),
    cancel: () => void (state.cancelled = true),
  });
  return {
    body,
    state,
    push: (text: string) => controller.enqueue(bytesOf(text)),
    end: () => controller.close(),
    fail(reason: unknown) {
      state.cancelled = true;
      controller.error(reason);
    },
  };
}

function limited(clock: ManualClock) {
  return { clock, config: { timeoutMs } };
}

function callWith() {
  return { signal: new AbortController().signal };
}
