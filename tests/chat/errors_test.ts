import type { ChatCompat } from "../../src/chat/compat.ts";
import type { FetchLike } from "../../src/chat/transport.ts";
import {
  ContextOverflowError,
  ModelAuthenticationError,
  type ModelErrorKind,
  ModelProviderError,
  ModelRateLimitError,
  ModelTimeoutError,
} from "../../src/model/errors.ts";
import { OpenAIModelAdapter } from "../../src/openai/adapter.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { assert, assertEquals, assertInstanceOf } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import {
  adapterKinds,
  ask,
  configWith,
  contextOf,
  readAll,
  secretKey,
  startedAdapter,
} from "./adapters.ts";
import { bytesOf, chunk, eventsOf, watchedBody } from "./bodies.ts";

for (const { kind, make } of adapterKinds) {
  const refusal = async (
    status: number,
    body: unknown,
  ): Promise<ModelProviderError> => {
    const adapter = make({ fetch: responding(status, body) });
    await adapter.startup();
    const { error, completed } = await ask(adapter);
    assertEquals(completed, undefined);
    assertInstanceOf(error, ModelProviderError);
    return error;
  };

  test(
    `a status has its class, over ${kind}`,
    { case: ["X-180", "X-193"] },
    async () => {
      const classes = [
        [401, ModelAuthenticationError, "authentication", false],
        [403, ModelAuthenticationError, "authentication", false],
        [408, ModelTimeoutError, "timeout", true],
        [504, ModelTimeoutError, "timeout", true],
        [413, ContextOverflowError, "context_overflow", false],
        [429, ModelRateLimitError, "rate_limit", true],
        [400, ModelProviderError, "provider_error", false],
        [404, ModelProviderError, "provider_error", false],
        [500, ModelProviderError, "provider_error", true],
        [503, ModelProviderError, "provider_error", true],
      ] as const;
      for (const [status, type, code, retryable] of classes) {
        const error = await refusal(status, { error: { message: "No" } });
        assertInstanceOf(error, type);
        assertEquals([error.code, error.retryable, error.status], [
          code,
          retryable,
          status,
        ]);
        assertEquals(error.unprocessed, code !== "timeout");
        assert(
          error.message.startsWith("Chat completion stream failed"),
          error.message,
        );
        assert(error.message.includes("No"), error.message);
      }
    },
  );

  test(`a wait that the server asks for is read, over ${kind}`, {
    case: "X-193",
  }, async () => {
    const now = Date.parse("2026-01-01T00:00:00Z");
    const waits: readonly (readonly [Record<string, string>, number | null])[] =
      [
        [{ "retry-after": "2" }, 2000],
        [{ "retry-after": "0.5" }, 500],
        [{ "retry-after-ms": "150", "retry-after": "2" }, 150],
        [{ "retry-after": "Thu, 01 Jan 2026 00:00:07 GMT" }, 7000],
        [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
        [{ "retry-after": "soon" }, null],
        [{ "retry-after": "1,2" }, null],
        [{ "retry-after": "-5" }, null],
        [{ "retry-after": "Infinity" }, null],
        [{ "retry-after": "999999999999999999999" }, 2 ** 31 - 1],
        [{ "retry-after-ms": "Infinity", "retry-after": "2" }, 2000],
        [{ "retry-after-ms": "1e400" }, null],
        [{ "retry-after-ms": "0x10" }, null],
        [{ "retry-after-ms": "12.6" }, 13],
        [{}, null],
      ];
    for (const [headers, expected] of waits) {
      const fetch = responding(
        429,
        { error: { message: "slow down" } },
        headers,
      );
      const adapter = make({ fetch, clock: new ManualClock(now) });
      await adapter.startup();
      const { error } = await ask(adapter);
      assertInstanceOf(error, ModelRateLimitError);
      assertEquals(error.retryAfterMs, expected);
    }
  });

  test(
    `a failed request is sent once, over ${kind}`,
    { case: "X-177" },
    async () => {
      for (const status of [500, 429, 408, 409]) {
        let requests = 0;
        const adapter = make({
          fetch(...args) {
            requests++;
            return responding(status, { error: { message: "No" } })(...args);
          },
        });
        await adapter.startup();
        const { error } = await ask(adapter);
        assertInstanceOf(error, ModelProviderError);
        assertEquals(requests, 1);
      }
    },
  );

  test(`a fault that the server names in a stream may pass, over ${kind}`, async () => {
    const faults = [
      [{ type: "server_error" }, true],
      [{ code: "overloaded_error" }, true],
      [{ type: "error", code: 503 }, true],
      [{ type: "invalid_request_error" }, false],
      [{ code: 400, type: "server_error" }, false],
    ] as const;
    for (const [fault, retryable] of faults) {
      const text = eventsOf({ error: { message: "No", ...fault } });
      const adapter = make({
        fetch: () => Promise.resolve(new Response(text)),
      });
      await adapter.startup();
      const { error } = await ask(adapter);
      assertInstanceOf(error, ModelProviderError);
      assertEquals([error.kind, error.retryable], [
        "provider_error",
        retryable,
      ]);
    }
  });

  test(`a server that redirects is no address of an API, over ${kind}`, async () => {
    const { message, retryable } = await refusal(302, "");
    assertEquals(retryable, false);
    assert(message.includes("redirects requests"), message);
    assert(message.includes("MODEL_URL"), message);
    assert(!(await refusal(400, "")).message.includes("redirects"));
  });

  test(`no request follows a redirect, over ${kind}`, async () => {
    const adapter = make({
      fetch(url, init) {
        const { redirect } = new Request(url, init);
        return Promise.reject(new Error(`redirect is ${redirect}`));
      },
    });
    await adapter.startup();
    const { error } = await ask(adapter);
    assertInstanceOf(error, ModelProviderError);
    assert(error.message.includes("redirect is manual"), error.message);
  });

  test(`an overflow behind visible text says so, over ${kind}`, {
    case: ["X-180", "B32"],
  }, async () => {
    const text = eventsOf(chunk({ content: "Hel" }), {
      error: { message: "prompt is too long" },
    });
    const adapter = make({ fetch: () => Promise.resolve(new Response(text)) });
    await adapter.startup();
    const { deltas, error } = await ask(adapter);
    assertEquals(deltas, [{ kind: "text_delta", delta: "Hel" }]);
    assertInstanceOf(error, ContextOverflowError);
    assertEquals(error.responseStarted, true);
    const before = await refusal(400, {
      error: { message: "prompt is too long" },
    });
    assertInstanceOf(before, ContextOverflowError);
    assertEquals(before.responseStarted, false);
  });

  test(
    `a cut connection is worth another try, over ${kind}`,
    { case: "X-180" },
    async () => {
      const cut = new TypeError("terminated", {
        cause: new Error("other side closed"),
      });
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(
            bytesOf(`data: ${JSON.stringify(chunk({ content: "Hel" }))}\n\n`),
          );
        },
        pull: (controller) => controller.error(cut),
      });
      const adapter = make({
        fetch: () => Promise.resolve(new Response(body)),
      });
      await adapter.startup();
      const { deltas, error } = await ask(adapter);
      assertEquals(deltas.length, 1);
      assertInstanceOf(error, ModelProviderError);
      assertEquals([error.code, error.retryable, error.cause], [
        "provider_error",
        true,
        cut,
      ]);
      assert(
        /stream was cut off: other side closed$/.test(error.message),
        error.message,
      );
    },
  );

  test(`data that is not JSON is a provider error, over ${kind}`, {
    case: "X-180",
  }, async () => {
    const adapter = make({
      fetch: () => Promise.resolve(new Response('data: {"cho\n\n')),
    });
    await adapter.startup();
    const { error } = await ask(adapter);
    assertInstanceOf(error, ModelProviderError);
    assertEquals([error.code, error.retryable], ["provider_error", false]);
    assertInstanceOf(error.cause, SyntaxError);
  });

  test(`a body that ends too early is worth another try, over ${kind}`, async () => {
    const [begun] = eventsOf(chunk({ content: "Hel" })).split("data: [DONE]");
    const document = '{"choices":[{"message":{"cont';
    for (const body of [begun + 'data: {"choices":[{"del', document]) {
      const adapter = make({
        fetch: () => Promise.resolve(new Response(body)),
      });
      await adapter.startup();
      const { error } = await ask(adapter);
      assertInstanceOf(error, ModelProviderError);
      assertEquals([error.code, error.retryable], ["provider_error", true]);
      assert(error.message.includes("broke off"), error.message);
    }
  });

  test(`a server that cannot be reached is named, over ${kind}`, async () => {
    const refused = new Error("connect ECONNREFUSED 10.0.0.1:443");
    const adapter = make({
      fetch: () =>
        Promise.reject(new TypeError("fetch failed", { cause: refused })),
      config: { baseUrl: "https://model.test/v1?key=query-secret-1" },
    });
    await adapter.startup();
    const { error } = await ask(adapter);
    assertInstanceOf(error, ModelProviderError);
    assertEquals([error.code, error.retryable], ["provider_error", true]);
    assert(error.message.includes("https://model.test/v1"), error.message);
    assert(error.message.includes("baseUrl"), error.message);
    assert(!error.message.includes("query-secret-1"), error.message);
  });

  test(`a request that never left says why and costs nothing, over ${kind}`, async () => {
    const failures: [thrown: Error, why: string, unprocessed: boolean][] = [
      // Node, with one address and with several; Deno; Bun.
      [
        fetchFailed(coded("ECONNREFUSED", "connect ECONNREFUSED ::1:80")),
        "connect ECONNREFUSED ::1:80",
        true,
      ],
      [
        fetchFailed(Object.assign(coded("ECONNREFUSED", ""), {
          errors: [coded("ECONNREFUSED", "connect ECONNREFUSED ::1:81")],
        })),
        "connect ECONNREFUSED ::1:81",
        true,
      ],
      [
        new TypeError("error sending request: client error (Connect)"),
        "client error (Connect)",
        true,
      ],
      [
        coded("ConnectionRefused", "Unable to connect"),
        "Unable to connect",
        true,
      ],
      [
        fetchFailed(coded("UND_ERR_CONNECT_TIMEOUT", "Connect Timeout Error")),
        "Connect Timeout Error",
        true,
      ],
      [
        fetchFailed(coded("ECONNRESET", "read ECONNRESET")),
        "read ECONNRESET",
        false,
      ],
    ];
    for (const [thrown, why, unprocessed] of failures) {
      const adapter = make({ fetch: () => Promise.reject(thrown) });
      await adapter.startup();
      const { error } = await ask(adapter);
      assertInstanceOf(error, ModelProviderError);
      assert(error.message.includes(why), error.message);
      assertEquals(error.unprocessed, unprocessed, why);
    }
  });

  test(`a timeout of the platform is a timeout, over ${kind}`, {
    case: "X-180",
  }, async () => {
    const timeouts = [
      new DOMException("signal timed out", "TimeoutError"),
      new TypeError("fetch failed", {
        cause: Object.assign(new Error("Headers Timeout Error"), {
          code: "UND_ERR_HEADERS_TIMEOUT",
        }),
      }),
    ];
    for (const timeout of timeouts) {
      const adapter = make({ fetch: () => Promise.reject(timeout) });
      await adapter.startup();
      const { error } = await ask(adapter);
      assertInstanceOf(error, ModelTimeoutError);
      assertEquals(error.retryable, true);
    }
  });

  test(`bodies that are no answer say what to check, over ${kind}`, async () => {
    const page = "<!doctype html><title>Welcome</title>";
    for (const text of [page, ""]) {
      const adapter = make({
        fetch: () => Promise.resolve(new Response(text)),
      });
      await adapter.startup();
      const { error } = await ask(adapter);
      assertInstanceOf(error, ModelProviderError);
      assert(error.message.includes("http://model.test/v1"), error.message);
      assert(!error.message.includes("Welcome"));
    }
    const refused = await refusal(502, page);
    assert(
      refused.message.endsWith("status 502: the body is a web page"),
      refused.message,
    );
  });

  test(`no message holds a secret, over ${kind}`, async () => {
    const echoed = await refusal(401, {
      error: { message: `Bad key ${secretKey}.` },
    });
    assert(!echoed.message.includes(secretKey), echoed.message);
    assert(
      echoed.message.includes("Bad key [redacted]; check the apiKey"),
      echoed.message,
    );
    const adapter = make({
      fetch: responding(400, `Header x-pass: opensesame1 and ${secretKey}`),
      headers: { "x-pass": "opensesame1" },
    });
    await adapter.startup();
    const { error } = await ask(adapter);
    assert(
      !(error as Error).message.includes("opensesame1"),
      (error as Error).message,
    );
  });

  test(`no cause holds a secret, over ${kind}`, async () => {
    const adapter = make({
      config: { baseUrl: "https://model.test/v1?key=query-secret-1" },
      fetch: () =>
        Promise.reject(
          new TypeError("fetch failed", {
            cause: new Error(
              `https://model.test/v1?key=query-secret-1 ${secretKey}`,
            ),
          }),
        ),
    });
    await adapter.startup();
    const { error } = await ask(adapter);
    assertInstanceOf(error, ModelProviderError);
    let chain = "";
    for (let at: unknown = error; at instanceof Error; at = at.cause) {
      chain += `${at.stack} ${JSON.stringify(at)}`;
    }
    assert(!/query-secret-1|sk-very-secret/.test(chain), chain);
  });

  test(`of a refusal only the beginning is read, over ${kind}`, {
    case: "X-180",
    // The client of somebody else reads as much as it likes.
    skip: kind === "injected openai client",
  }, async () => {
    let read = 0;
    const endless = function* () {
      const piece = bytesOf("x".repeat(16 * 1024));
      for (;; read += piece.length) yield piece;
    };
    const body = watchedBody(endless());
    const adapter = make({
      fetch: () => Promise.resolve(new Response(body.stream, { status: 500 })),
    });
    await adapter.startup();
    const { error } = await ask(adapter);
    assertInstanceOf(error, ModelProviderError);
    assertEquals(error.status, 500);
    assert(error.message.length < 700, `${error.message.length} characters`);
    assert(read <= 64 * 1024, `${read} bytes`);
    assertEquals(body.ended, "cancelled");
  });
}

test(
  "errors that a client throws are read like bodies",
  { case: "X-180" },
  async () => {
    const thrown: readonly (readonly [object, ModelErrorKind])[] = [
      [{ code: "context_length_exceeded" }, "context_overflow"],
      [{
        status: 400,
        error: { message: "maximum context length is 5 tokens" },
      }, "context_overflow"],
      [
        { status: 400, error: { error: { code: "context_length_exceeded" } } },
        "context_overflow",
      ],
      [{ status: 401, message: "401 no" }, "authentication"],
      [{ status: 429, error: { message: "too many tokens" } }, "rate_limit"],
      [{ error: { type: "insufficient_quota" } }, "rate_limit"],
      [{ name: "TimeoutError" }, "timeout"],
      [{ message: "Request timed out." }, "timeout"],
      [{ code: "ECONNRESET" }, "provider_error"],
    ];
    for (const [facts, code] of thrown) {
      const cause = Object.assign(new Error("from the client"), facts);
      const client = {
        post: () => ({ asResponse: () => Promise.reject(cause) }),
      };
      const adapter = new OpenAIModelAdapter(configWith(), { client });
      await adapter.startup();
      for (const ending of ["stream", "complete"] as const) {
        const call = { signal: new AbortController().signal };
        const error = ending === "stream"
          ? (await readAll(adapter.stream(contextOf(), call))).error
          : await adapter.complete(contextOf(), call).catch((error) => error);
        assertInstanceOf(error, ModelProviderError);
        assertEquals(error.code, code);
        assertEquals(error.cause, cause);
        const name = ending === "stream"
          ? "Chat completion stream "
          : "Chat completion ";
        assert(error.message.startsWith(name), error.message);
      }
    }
  },
);

/** What providers are known to say, where they say it, and what it means. */
const verdicts: readonly Verdict[] = [
  {
    body: { error: { code: "context_length_exceeded" } },
    means: "context_overflow",
  },
  {
    body: "Your input exceeds the context window of this model",
    means: "context_overflow",
  },
  {
    body: "Your input exceeds the model's context window",
    means: "context_overflow",
  },
  { body: "It exceeds this model's context window", means: "context_overflow" },
  {
    body: "prompt is too long: 12 tokens > 10 maximum",
    means: "context_overflow",
  },
  {
    body: "input length and `max_tokens` exceed context limit: 9 + 3 > 10",
    means: "context_overflow",
  },
  {
    body:
      "The input token count (12) exceeds the maximum number of tokens allowed (10)",
    means: "context_overflow",
  },
  {
    body: "Please reduce the length of the messages or completion",
    means: "context_overflow",
  },
  {
    body:
      "This endpoint's maximum context length is 10 tokens. However, you requested about 12",
    means: "context_overflow",
  },
  {
    body: "request (12 tokens) exceeds the available context size (10 tokens)",
    means: "context_overflow",
  },
  {
    body: { error: { type: "exceed_context_size_error" } },
    means: "context_overflow",
  },
  {
    body: "prompt token count of 12 exceeds the limit of 10",
    means: "context_overflow",
  },
  {
    body: { error: { code: "model_max_prompt_tokens_exceeded" } },
    means: "context_overflow",
  },
  {
    body: "invalid params, context window exceeds limit",
    means: "context_overflow",
  },
  {
    body:
      "Prompt contains 12 tokens and 0 draft tokens, too large for model with 10 maximum context length",
    means: "context_overflow",
  },
  {
    body: "Range of input length should be [1, 10]",
    means: "context_overflow",
  },
  { body: "Input is too long for requested model", means: "context_overflow" },
  {
    body: "tokens in request more than max tokens allowed",
    means: "context_overflow",
  },
  // Flat, nested deeper, in a list, as plain text.
  {
    body: { object: "error", message: "maximum context length", code: 400 },
    means: "context_overflow",
  },
  {
    body: { error: { error: { code: " Context_Length_Exceeded " } } },
    means: "context_overflow",
  },
  {
    body: [{ error: { message: "prompt is too long" } }],
    means: "context_overflow",
  },
  { body: { error: "context length exceeded" }, means: "context_overflow" },
  { body: { detail: "context length exceeded" }, means: "context_overflow" },
  // Limits of time are no overflow, whatever else they say.
  { body: "Too many tokens per day, please wait", means: "rate_limit" },
  { body: { error: { code: "insufficient_quota" } }, means: "rate_limit" },
  { body: "You exceeded your current quota", means: "rate_limit" },
  {
    body: "Rate limit reached: too many tokens per minute",
    means: "rate_limit",
  },
  // Neither.
  { body: "max_tokens is too large: 12", means: "provider_error" },
  {
    body: "total message size 12 exceeds limit 10",
    status: 413,
    means: "provider_error",
  },
  { body: "The image is too large", status: 413, means: "provider_error" },
  { body: "", means: "provider_error" },
  // The text of the conversation does not count.
  {
    body: {
      error: {
        message: "Bad request",
        input: "prompt is too long",
        param: "context window",
      },
    },
    means: "provider_error",
  },
];

interface Verdict {
  readonly body: unknown;
  readonly means: ModelErrorKind;
  readonly status?: number;
}

test("refusals of all providers are understood", { case: "B40" }, async () => {
  for (const { make, kind } of adapterKinds) {
    for (const { body, status = 400, means } of verdicts) {
      const wrapped = typeof body === "string" && body !== ""
        ? { error: { message: body } }
        : body;
      for (const form of [wrapped, body]) {
        const adapter = make({ fetch: responding(status, form) });
        await adapter.startup();
        const { error } = await ask(adapter);
        assertInstanceOf(error, ModelProviderError);
        assertEquals(error.kind, means, `${JSON.stringify(form)} over ${kind}`);
      }
    }
  }
});

test("the same refusals are understood inside a stream", {
  case: ["B32", "B40"],
}, async () => {
  for (const { body, status, means } of verdicts) {
    if (status !== undefined || body === "" || Array.isArray(body)) continue;
    if (JSON.stringify(body).includes("detail")) continue;
    const { error } = await askWith(
      eventsOf(typeof body === "string" ? { error: body } : body),
    );
    assertInstanceOf(error, ModelProviderError);
    assertEquals(error.kind, means, JSON.stringify(body));
  }
});

test("a status inside an error counts as one", { case: "B32" }, async () => {
  const kinds: readonly (readonly [unknown, ModelErrorKind, boolean])[] = [
    [502, "provider_error", true],
    ["503", "provider_error", true],
    [429, "rate_limit", true],
    [401, "authentication", false],
    [1234, "provider_error", false],
  ];
  for (const [code, kind, retryable] of kinds) {
    const { error } = await askWith(
      eventsOf({ choices: [], error: { code, message: "upstream" } }),
    );
    assertInstanceOf(error, ModelProviderError);
    assertEquals([error.kind, error.retryable], [kind, retryable]);
  }
  const inChoice = {
    choices: [{
      index: 0,
      delta: {},
      error: { code: 502, message: "upstream" },
    }],
  };
  assertEquals((await askWith(eventsOf(inChoice))).error?.status, 502);
  assertInstanceOf(
    (await askWith(eventsOf(chunk({}, "error")))).error,
    ModelProviderError,
  );
});

test(
  "a limit of time is a rate limit with any status",
  { case: "B41" },
  async () => {
    for (const status of [400, 429, 500]) {
      const { error } = await askWith("Too many tokens per day, please wait", {
        status,
      });
      assertInstanceOf(error, ModelRateLimitError);
      assertEquals(error.retryable, true);
    }
  },
);

test("a used-up quota is not worth another try", async () => {
  const body = JSON.stringify({
    error: { code: "insufficient_quota", message: "Pay first." },
  });
  const { error } = await askWith(body, { status: 429 });
  assertInstanceOf(error, ModelRateLimitError);
  assertEquals(error.retryable, false);
});

test("a request larger than the limit is not sent again unchanged", {
  case: "B97",
}, async () => {
  const tooLarge =
    "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 9,000";
  const { error } = await askWith(tooLarge, { status: 429 });
  assertInstanceOf(error, ModelRateLimitError);
  assertEquals(error.retryable, false);
  assert(
    /6000.*9,000.*shorten the conversation/.test(error.message),
    error.message,
  );
  const used =
    "Rate limit on tokens per min (TPM): Limit 6000, Used 5500, Requested 900";
  assertEquals((await askWith(used, { status: 429 })).error?.retryable, true);
});

test("an unexplained 400 is an overflow where the server is known for it", {
  case: "B40",
}, async () => {
  const compat = { emptyBodyMeansOverflow: true };
  for (const { make } of adapterKinds) {
    const adapter = make({ fetch: responding(400, ""), compat });
    await adapter.startup();
    assertInstanceOf((await ask(adapter)).error, ContextOverflowError);
  }
  assertEquals(
    (await askWith("", { status: 400 })).error?.kind,
    "provider_error",
  );
  assertEquals(
    (await askWith("", { status: 404, compat })).error?.kind,
    "provider_error",
  );
  assertEquals(
    (await askWith("Bad", { status: 400, compat })).error?.kind,
    "provider_error",
  );
});

test(
  "an overflow that looks like a success is noticed",
  { case: "B40" },
  async () => {
    const word = await askWith(
      eventsOf(chunk({}, "model_context_window_exceeded")),
    );
    assertInstanceOf(word.error, ContextOverflowError);
    const usage = { prompt_tokens: 154_000, completion_tokens: 60 };
    const text = eventsOf(chunk({ content: "a" }, "length"), {
      choices: [],
      usage,
    });
    const known = await askWith(text, { compat: { contextWindow: 128_000 } });
    assertInstanceOf(known.error, ContextOverflowError);
    assert(known.error.message.includes("154000"), known.error.message);
    assertEquals((await askWith(text)).error, undefined);
    assertEquals(
      (await askWith(text, { compat: { contextWindow: 154_000 } })).error,
      undefined,
    );
  },
);

test("a refusal from where a redirect led names the redirect", async () => {
  const response = new Response("Use POST", { status: 405 });
  Object.defineProperty(response, "redirected", { value: true });
  const adapter = await startedAdapter({
    fetch: () => Promise.resolve(response),
  });
  const { error } = await ask(adapter);
  assertInstanceOf(error, ModelProviderError);
  assert(error.message.includes("405: Use POST; "), error.message);
  assert(error.message.includes("redirects requests"), error.message);
});

test("a redirect whose status a browser hides names the redirect", async () => {
  const response = new Response(null, { status: 302 });
  Object.defineProperty(response, "status", { value: 0 });
  const adapter = await startedAdapter({
    fetch: () => Promise.resolve(response),
  });
  const { error } = await ask(adapter);
  assertInstanceOf(error, ModelProviderError);
  assertEquals([error.status, error.retryable], [undefined, false]);
  assert(error.message.includes("redirects requests"), error.message);
});

function responding(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): FetchLike {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return () =>
    Promise.resolve(
      new Response(text === "" ? null : text, { status, headers }),
    );
}

interface Circumstances {
  readonly status?: number;
  readonly compat?: Partial<ChatCompat>;
}

async function askWith(
  text: string,
  { status = 200, compat = {} }: Circumstances = {},
) {
  const adapter = adapterKinds[0]!.make({
    fetch: responding(status, text),
    compat,
  });
  await adapter.startup();
  const { error } = await ask(adapter);
  return { error: error as ModelProviderError | undefined };
}

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function fetchFailed(cause: Error): TypeError {
  return new TypeError("fetch failed", { cause });
}
