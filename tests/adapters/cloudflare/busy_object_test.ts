import { ObjectBusyError } from "../../../adapters/cloudflare/object_busy.ts";
import { exportJournal } from "../../../src/session/export.ts";
import { MemorySessionStorage } from "../../../src/session/memory.ts";
import { finished, started } from "../../../src/testing/session_drafts.ts";
import { ScriptedModel } from "../../../src/testing/scripted_model.ts";
import { text } from "../../../src/testing/steps.ts";
import { assertEquals, assertRejects } from "../../support/assert.ts";
import { deferred } from "../../support/deferred.ts";
import { test } from "../../support/suite.ts";
import {
  type OpenedObject,
  openObject,
  sqliteObject,
} from "./sqlite_object.ts";

const here = { runtimes: ["deno"] } as const;

test("a journal is not put into an object that runs", here, async () => {
  const asked = deferred<void>();
  const answer = deferred<void>();
  const object = openObject(await sqliteObject(), {
    model: new ScriptedModel(async () => {
      asked.resolve();
      await answer.promise;
      return text("done");
    }),
  });
  const run = object.run("Work");
  await asked.promise;
  assertEquals(await put(object, await journalBytes()), [409, "object_busy"]);
  answer.resolve();
  assertEquals((await run).output, "done");
});

test("no run begins while a journal is put", here, async () => {
  const object = openObject(await sqliteObject());
  const reached = deferred<void>();
  const rest = deferred<void>();
  const bytes = await journalBytes();
  const half = bytes.indexOf(10) + 1;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes.slice(0, half)),
    async pull(controller) {
      reached.resolve();
      await rest.promise;
      controller.enqueue(bytes.slice(half));
      controller.close();
    },
  }, { highWaterMark: 0 });
  const stored = put(object, body);
  await reached.promise;
  await assertRejects(() => object.run("Work"), ObjectBusyError);
  assertEquals(await put(object, bytes), [409, "object_busy"]);
  await object.alarm();
  rest.resolve();
  assertEquals(await stored, [200, undefined]);
  assertEquals((await object.run("Work")).status, "completed");
});

test("an object whose storage is emptied begins anew", here, async () => {
  const state = await sqliteObject();
  const object = openObject(state);
  await object.run("Before");
  state.deleteAll();
  await object.alarm();
  await object.run("After");
  const records = await object.sessions.records("s");
  assertEquals(records.map(({ kind }) => kind), [
    "run_started",
    "message_appended",
    "run_finished",
  ]);
  const unnamed = { ...state, id: { toString: () => "id" } };
  assertEquals(openObject(unnamed).sessionId, "s");
});

async function put(
  object: OpenedObject,
  body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
): Promise<[number, string | undefined]> {
  const init = { method: "PUT", body, duplex: "half" } as RequestInit;
  const url = "https://object.example/journal";
  const answer = await object.fetch(new Request(url, init));
  return [answer.status, (await answer.json()).error?.code];
}

async function journalBytes(): Promise<Uint8Array<ArrayBuffer>> {
  const storage = new MemorySessionStorage();
  for (const draft of [started("r1"), finished("r1", 2)]) {
    await storage.append({ ...draft, sessionId: "s", agentId: "a" });
  }
  const stream = exportJournal(storage, "s");
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
