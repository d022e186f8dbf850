import { answerWatch } from "../../src/mcp/answer_watch.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { eventStream, json, message } from "./hostile_http.ts";

const url = "https://bad.example/mcp";
const call = {
  method: "POST",
  body: message({ id: 7, method: "tools/call", params: {} }),
};

/** What a client sees of a response to a call. */
async function seen(response: Response): Promise<string> {
  const watch = answerWatch(() => Promise.resolve(response));
  return await (await watch.fetch(url, call)).text();
}

test("a stream of events ends with a notice, unless it can be taken up again", async () => {
  const notice = message({
    method: "notifications/ejagent/response_ended",
    params: { requestId: 7 },
  });
  assertEquals(
    await seen(eventStream(["{}"])),
    `data: {}\n\n\n\ndata: ${notice}\n\n`,
  );
  assertEquals(
    await seen(eventStream(["{}"], "break")),
    `data: {}\n\n\n\ndata: ${notice}\n\n`,
  );
  const resumable = ["{}\nid: 1"];
  assertEquals(await seen(eventStream(resumable)), "data: {}\nid: 1\n\n");
  await assertRejects(
    () => seen(eventStream(resumable, "break")),
    TypeError,
    "reset by peer",
  );
});

test("other responses and other requests pass as they are", async () => {
  assertEquals(await seen(json("[1")), "[1");
  const refusal = new Response("no", { status: 401 });
  const watch = answerWatch(() => Promise.resolve(refusal));
  assertEquals(await watch.fetch(url, call), refusal);
  const token = { method: "POST", body: new URLSearchParams("a=b") };
  assertEquals(await watch.fetch(url, token), refusal);
  const form = { method: "POST", body: "a=b" };
  assertEquals(await watch.fetch(url, form), refusal);
  assertEquals(await watch.fetch(url), refusal);
});

test("a call that is given up closes its response, and nobody takes it up again", async () => {
  let signal: AbortSignal | undefined;
  const watch = answerWatch((_url, init) => {
    signal ??= init!.signal!;
    const first = new TextEncoder().encode("id: 1\ndata: \n\n");
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(first);
        signal!.addEventListener("abort", () => controller.error("closed"));
      },
    });
    const headers = { "content-type": "text/event-stream" };
    return Promise.resolve(new Response(body, { headers }));
  });
  const reader = (await watch.fetch(url, call)).body!.getReader();
  await reader.read();
  let told = false;
  const tell = () => told = true;
  reader.read().then(tell, tell);

  const body = message({
    method: "notifications/cancelled",
    params: { requestId: 7 },
  });
  await watch.fetch(url, { method: "POST", body });
  await settle();
  assertEquals([signal?.aborted, told], [true, false]);
});
