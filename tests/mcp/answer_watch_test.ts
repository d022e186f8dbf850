import { answerWatch } from "../../src/mcp/answer_watch.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
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
  assertEquals(await watch.fetch(url), refusal);
});
