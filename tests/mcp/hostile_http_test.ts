import { convertMcpResult, McpToolHandler } from "../../src/mcp/mod.ts";
import { calls, text } from "../../src/testing/mod.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { agentWith, type FixtureOptions } from "../agent/fixtures.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import {
  answerTo,
  eventStream,
  hostileFetch,
  json,
  message,
  type Misdeed,
  silentStream,
} from "./hostile_http.ts";

const lost =
  "MCP server bad closed the connection; the call may have been carried out";
const noProtocol = "MCP server bad sent what the protocol does not allow";

test("what a server answers in its own way fails the call, and the run goes on", async () => {
  const page = { headers: { "content-type": "text/html" } };
  const misdeeds: Readonly<Record<string, readonly [Misdeed, string]>> = {
    half_an_answer: [() => json('{"jsonrpc":"2.0","id":'), noProtocol],
    no_message: [() => json('{"secret":"sesame"}'), noProtocol],
    page: [
      () => new Response("<p>sesame</p>", page),
      "Streamable HTTP error: Unexpected content type: text/html",
    ],
    refusal: [
      () => new Response("sesame", { status: 500 }),
      "MCP server bad answered HTTP 500",
    ],
    reset: [
      () => Promise.reject(new TypeError("https://sesame@bad.example reset")),
      "MCP server bad cannot be reached",
    ],
    empty_stream: [
      () => eventStream([]),
      lost,
    ],
    broken_stream: [
      () =>
        eventStream([message({ method: "notifications/message" })], "break"),
      lost,
    ],
    broken_event: [
      () => eventStream(['{"jsonrpc":"2.0"', '{"jsonr'], "break"),
      lost,
    ],
  };
  const told = await runOver(
    Object.fromEntries(
      Object.entries(misdeeds).map(([name, [misdeed]]) => [name, misdeed]),
    ),
  );
  assertEquals(
    told,
    Object.entries(misdeeds).map(([name, [, error]]) =>
      JSON.stringify({ status: "error", tool: `bad__${name}`, error })
    ),
  );
});

test("only the first answer counts, and garbage before it does not", async () => {
  const told = await runOver({
    twice_in_a_stream: (request) =>
      eventStream([answerTo(request, "first"), answerTo(request, "second")]),
    twice_at_once: (request) =>
      json(`[${answerTo(request, "first")},${answerTo(request, "second")}]`),
    after_garbage: (request) =>
      eventStream(["{]", "42", '{"hello":1}', answerTo(request, "first")]),
    for_others: (request) =>
      eventStream([
        answerTo({ ...request, id: 4711 }, "second"),
        answerTo(request, "first"),
      ]),
  });
  assertEquals(told, ["first", "first", "first", "first"]);
});

test("a stream of events that floods the client is not piled up", async () => {
  const answered = deferred();
  let seenCount = 0;
  const told = await runOver({
    flood: (request) => eventStream(flood(request.progressToken, request.id)),
  }, {
    convertResult: (result, options) => {
      answered.resolve();
      return convertMcpResult(result, options);
    },
  }, {
    onEvent: async ({ kind }) => {
      if (kind !== "tool_progressed") return;
      seenCount += 1;
      await answered.promise;
    },
  });
  assertEquals(told, ["flooded"]);
  assert(seenCount <= 65, `${seenCount} reports were kept`);
});

function* flood(progressToken: unknown, id: number): Generator<string> {
  for (let progress = 1; progress <= 3000; progress++) {
    yield message({
      method: "notifications/progress",
      params: { progressToken, progress },
    });
    yield message({ method: "notifications/tools/list_changed" });
  }
  yield message({
    id,
    result: { content: [{ type: "text", text: "flooded" }] },
  });
}

test("a server that does not answer is given up, and its request with it", async () => {
  const signals: AbortSignal[] = [];
  const givenUp: boolean[] = [];
  const told = await runOver({
    hang: ({ signal }) => {
      signals.push(signal);
      return new Promise((_, rejectWith) => {
        signal.addEventListener("abort", () => rejectWith(signal.reason));
      });
    },
    say_nothing: ({ signal }) => {
      signals.push(signal);
      return silentStream(signal);
    },
    // Long before the connection is closed.
    look: (request) => {
      givenUp.push(...signals.map(({ aborted }) => aborted));
      return json(answerTo(request, "looked"));
    },
  }, { timeoutMs: 500 });
  const timedOut = (name: string) =>
    JSON.stringify({
      status: "error",
      tool: `bad__${name}`,
      error:
        `MCP request timed out: bad did not answer ${name} within 500 ms (timeoutMs)`,
    });
  assertEquals(told, [timedOut("hang"), timedOut("say_nothing"), "looked"]);
  assertEquals(givenUp, [true, true]);
});

test("a server that hangs at start-up is left out", async () => {
  const signals: AbortSignal[] = [];
  const handler = new McpToolHandler({
    servers: { bad: { url: "https://bad.example/mcp" } },
    http: {
      fetch: (_url, { signal } = {}) => {
        signals.push(signal!);
        return new Promise((_, rejectWith) => {
          signal!.addEventListener("abort", () => rejectWith(signal!.reason));
        });
      },
    },
    connectTimeoutMs: 20,
    logger: new RecordingLogger(),
  });
  const { agent } = agentWith([text("done")], { tools: [handler] });
  assertEquals((await agent.run("Go")).output, "done");
  assertEquals(
    handler.diagnostics.map(({ message }) => message),
    ["MCP server bad did not connect within 20 ms (connectTimeoutMs)"],
  );
  await agent.shutdown();
  assertEquals(signals.map(({ aborted }) => aborted), [true]);
});

/** A run that calls every tool, one a turn; gives back what the model was told. */
async function runOver(
  misdeeds: Readonly<Record<string, Misdeed>>,
  handling: Partial<ConstructorParameters<typeof McpToolHandler>[0]> = {},
  options: FixtureOptions = {},
): Promise<readonly unknown[]> {
  const handler = new McpToolHandler({
    servers: { bad: { url: "https://bad.example/mcp" } },
    http: { fetch: hostileFetch(misdeeds) },
    logger: new RecordingLogger(),
    ...handling,
  });
  const { agent } = agentWith([
    ...Object.keys(misdeeds).map((name) => calls([`bad__${name}`])),
    text("done"),
  ], { ...options, tools: [handler] });
  const { status, output } = await agent.run("Go");
  assertEquals([status, output], ["completed", "done"]);
  assertEquals(handler.serverStatus("bad"), { status: "connected" });
  await agent.shutdown();
  return agent.state.messages
    .filter(({ role }) => role === "tool").map(({ content }) => content);
}
