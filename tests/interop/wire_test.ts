import {
  ContextOverflowError,
  ModelProviderError,
} from "../../src/model/errors.ts";
import {
  type AdapterKind,
  adapterKinds,
  ask,
  type Reading,
  textOf,
} from "../chat/adapters.ts";
import { joined, oneByOne, randomCuts, watchedBody } from "../chat/bodies.ts";
import { assert, assertEquals, assertInstanceOf } from "../support/assert.ts";
import { base64Bytes, fixture } from "../support/fixtures.ts";
import { test } from "../support/suite.ts";
import streams from "./fixtures/openai_streams.json" with { type: "json" };

/** One stream that a provider was seen to send, and what it must become. */
interface WireFixture {
  readonly id: string;
  readonly contentType: string;
  readonly chunks: readonly string[];
  readonly expect: ExpectedAnswer | {
    readonly error: "provider" | "context_overflow";
  };
}

interface ExpectedAnswer {
  readonly content: string | null;
  readonly toolCalls: readonly ExpectedCall[];
  readonly finish: string;
  readonly thinking: string;
  readonly usage: Readonly<Record<string, number>> | null;
}

interface ExpectedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** What users reported about streams of these kinds, and how the names of the fixtures begin. */
const reports:
  readonly (readonly [words: string, beginning: string, id: string])[] = [
    [
      "comments, keep-alives and every line end of event streams are understood",
      "sse-",
      "B33",
    ],
    ["a character cut between reads stays whole", "sse-utf8-split", "B34"],
    ["empty, null and missing choices are passed over", "choices-", "B35"],
    ["a missing delta is passed over", "delta-", "B35"],
    [
      "fragments without an index find their call",
      "tool-no-index-continuation",
      "B16",
    ],
    [
      "calls under one index are told apart by their ids",
      "tool-same-index-new-id",
      "B17",
    ],
    [
      "two objects in one call stay as they are",
      "args-two-objects-one-slot",
      "B17",
    ],
    ["an empty id means no id", "tool-id-empty-continuation", "B18"],
    ["a call without an id gets one", "tool-id-never", "B19"],
    ["a repeated name counts once", "tool-name-repeated", "B20"],
    ["a name in pieces is joined", "tool-name-fragmented", "B21"],
    [
      "arguments may come after the id and the name",
      "tool-standard-interleaved",
      "B22",
    ],
    ["empty arguments become an empty object", "args-empty-string", "B23"],
    [
      "a placeholder gives way to the arguments",
      "args-empty-object-prefix",
      "B24",
    ],
    [
      "calls count whatever the finish reason says",
      "finish-stop-with-tools",
      "B26",
    ],
    ["a finish reason makes no calls", "finish-tools-without-tools", "B27"],
    ["an empty finish reason is none", "finish-empty-string", "B28"],
    ["a stream that breaks off is no answer", "finish-missing-eof", "B29"],
    ["an error inside a stream is a failure", "error-", "B32"],
    ["the last token counts win", "usage-cumulative", "B36"],
    [
      "a chunk may hold text, token counts and finish reason at once",
      "usage-with-content",
      "B37",
    ],
    [
      "think tags are text unless the adapter is told otherwise",
      "think-tags-inline",
      "B38",
    ],
    ["thinking never becomes the answer", "reasoning-only", "B39"],
    ["calls that share an id get two", "tool-duplicate-ids", "B09"],
  ];

const { fixtures } = fixture<{ fixtures: WireFixture[] }>(streams);

for (const wire of fixtures) {
  const ids = reports
    .filter(([, beginning]) => wire.id.startsWith(beginning))
    .map(([, , id]) => id);
  for (const kind of adapterKinds) {
    const name =
      `${wire.id} is read alike however it is cut, over ${kind.kind}`;
    test(name, { case: ids }, async () => {
      const chunks = wire.chunks.map(base64Bytes);
      const whole = joined(chunks);
      const asGiven = await readPieces(kind, wire, chunks);
      check(wire, asGiven);
      const single = await readPieces(kind, wire, oneByOne(whole));
      assertEquals(single, asGiven, "one byte at a time");
      for (let seed = 1; seed <= 20; seed++) {
        const cut = await readPieces(kind, wire, randomCuts(whole, seed));
        assertEquals(cut, asGiven, `cut by seed ${seed}`);
      }
    });
  }
}

async function readPieces(
  { make }: AdapterKind,
  { contentType }: WireFixture,
  pieces: Iterable<Uint8Array<ArrayBuffer>>,
): Promise<Reading> {
  const body = watchedBody(pieces);
  const headers = { "content-type": contentType };
  const response = new Response(body.stream, { headers });
  const adapter = make({ fetch: () => Promise.resolve(response) });
  await adapter.startup();
  const reading = await ask(adapter);
  await adapter.shutdown();
  assert(body.ended !== undefined, "the body was left open");
  return reading;
}

function check(
  { expect }: WireFixture,
  { deltas, completed, error }: Reading,
): void {
  if ("error" in expect) {
    const type = expect.error === "provider"
      ? ModelProviderError
      : ContextOverflowError;
    assertInstanceOf(error, type);
    assertEquals(
      error.kind,
      expect.error === "provider" ? "provider_error" : expect.error,
    );
    assertEquals(completed, undefined);
    return;
  }
  assertEquals(error, undefined);
  const { message, usage, finishReason } = completed!;
  assertEquals(message.content, expect.content);
  assertEquals(finishReason, expect.finish);
  assertEquals(textOf(deltas, "text_delta"), expect.content ?? "");
  assertEquals(textOf(deltas, "thinking_delta"), expect.thinking);
  assertEquals(
    message.toolCalls.map((call) => ({
      ...call,
      id: call.id.startsWith("call_made") ? "<gen>" : call.id,
    })),
    expect.toolCalls.map(({ id, name, arguments: text }) => ({
      id,
      name,
      arguments: text,
    })),
  );
  if (expect.usage === null) assertEquals(usage, null);
  else {for (const [name, count] of Object.entries(expect.usage)) {
      assertEquals({ ...usage }[name], count);
    }}
}
