import { ManualClock } from "../../src/testing/manual_clock.ts";
import { modelServer } from "../../src/testing/model_server.ts";
import {
  deliver,
  type Delivery,
  respond,
} from "../../src/testing/server_steps.ts";
import { text } from "../../src/testing/steps.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { dataOf, post, postStream } from "./wire.ts";

const parts = ["one ", "two ", "three"];

async function piecesOf(response: Response): Promise<string[]> {
  const pieces: string[] = [];
  const decoder = new TextDecoder();
  for await (const piece of response.body!) pieces.push(decoder.decode(piece));
  return pieces;
}

function answered(delivery: Delivery): Promise<Response> {
  return post(modelServer([deliver(respond(200, { body: parts }), delivery)]));
}

test("pieces are events by default, or as small as one likes", async () => {
  assertEquals(await piecesOf(await answered({})), parts);
  assertEquals(await piecesOf(await answered({ chunkBytes: 3 })), [
    "one",
    " ",
    "two",
    " ",
    "thr",
    "ee",
  ]);
});

test("a response can be cut after events or bytes", async () => {
  const cases: [Delivery, string[]][] = [
    [{ cutAfterEvents: 0 }, []],
    [{ cutAfterEvents: 2 }, ["one ", "two "]],
    [{ cutAfterBytes: 0 }, []],
    [{ cutAfterBytes: 4 }, ["one "]],
    [{ cutAfterBytes: 6 }, ["one ", "tw"]],
    [{ cutAfterBytes: 5, chunkBytes: 3 }, ["one", " ", "t"]],
  ];
  for (const [delivery, expected] of cases) {
    assertEquals(
      await piecesOf(await answered({ ...delivery, cut: "end" })),
      expected,
    );

    const seen: string[] = [];
    const decoder = new TextDecoder();
    const response = await answered(delivery);
    await assertRejects(
      async () => {
        for await (const piece of response.body!) {
          seen.push(decoder.decode(piece));
        }
      },
      TypeError,
      "cut",
    );
    assertEquals(seen, expected);
  }
});

test("a cut behind the end changes nothing", async () => {
  assertEquals(await piecesOf(await answered({ cutAfterEvents: 3 })), parts);
  assertEquals(await piecesOf(await answered({ cutAfterBytes: 13 })), parts);
});

test("a test can hold back every piece", async () => {
  const gates = [deferred(), deferred(), deferred()];
  const asked: number[] = [];
  const response = await answered({
    beforeChunk(index) {
      asked.push(index);
      return gates[index]!.promise;
    },
  });
  const reader = response.body!.getReader();
  for (const [index, gate] of gates.entries()) {
    const piece = reader.read();
    gate.resolve();
    assertEquals(new TextDecoder().decode((await piece).value), parts[index]);
    assertEquals(asked.length, index + 1, "nothing is produced ahead");
  }
});

test("slow bytes come with the server's clock", async () => {
  const clock = new ManualClock();
  const server = modelServer([text("Hi")], {
    clock,
    delivery: { delayMs: 100 },
  });
  const response = await postStream(server);
  const reader = response.body!.getReader();
  let pieces = 0;
  const reading = (async () => {
    while (!(await reader.read()).done) pieces += 1;
  })();
  await clock.advanceAsync(99);
  assertEquals(pieces, 0);
  await clock.advanceAsync(1);
  assertEquals(pieces, 1);
  await clock.advanceAsync(1_000);
  await reading;
  assertEquals(pieces, 4, "opening, text, finish, done");
});

test("a server may answer a request for a stream with JSON", async () => {
  const server = modelServer([deliver(text("Hi"), { streamed: false })]);
  const response = await postStream(server);
  assertEquals(response.headers.get("content-type"), "application/json");
  assertEquals((await response.json()).choices[0].message.content, "Hi");
});

test("a step adds to the delivery of its server", async () => {
  const delivery = { cutAfterEvents: 3, cut: "end" } as const;
  const server = modelServer(
    [text("Hi"), deliver(text("Hi"), { cutAfterEvents: 1 })],
    { delivery },
  );
  assertEquals((await dataOf(await postStream(server))).length, 3);
  assertEquals((await dataOf(await postStream(server))).length, 1);
});
