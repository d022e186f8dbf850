import type { ChatCompat } from "../../src/chat/compat.ts";
import type { AgentMessage } from "../../src/messages/message.ts";
import {
  toAgentMessage,
  toolMessage,
  userMessage,
} from "../../src/messages/message.ts";
import { rememberOrigin } from "../../src/model/provider_data.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { ask, contextOf, startedAdapter } from "./adapters.ts";
import { chunk, eventsOf, playing } from "./bodies.ts";

const deepSeek = { baseUrl: "https://api.deepseek.com/v1" };
const call = {
  index: 0,
  id: "c1",
  function: { name: "echo", arguments: "{}" },
};
const planned = eventsOf(
  chunk({ reasoning_content: "pl" }),
  chunk({ reasoning_content: "an" }),
  chunk({ tool_calls: [call] }, "tool_calls"),
);
const hi = eventsOf(chunk({ content: "Hi" }, "stop"));

test(
  "reasoning goes back with the calls it led to",
  { case: ["X-197", "B12"] },
  async () => {
    const { kept, second } = await twoRequests(planned, {
      reasoningReplay: true,
    });
    assertEquals(second[1], {
      role: "assistant",
      content: null,
      reasoning_content: "plan",
      tool_calls: [{
        id: "c1",
        type: "function",
        function: { name: "echo", arguments: "{}" },
      }],
    });
    assert(
      !JSON.stringify(kept).includes("plan"),
      "reasoning is in the history",
    );
  },
);

test(
  "reasoning does not go back unless it is wanted",
  { case: "X-197" },
  async () => {
    const { second } = await twoRequests(planned, { reasoningReplay: false });
    assert(!("reasoning_content" in second[1]!));
    assert(!JSON.stringify(second).includes("plan"));
  },
);

test(
  "DeepSeek and Gemini want it without being told",
  { case: "B12" },
  async () => {
    const gemini = "https://generativelanguage.googleapis.com/v1beta/openai/";
    for (const baseUrl of [deepSeek.baseUrl, gemini]) {
      const { second } = await twoRequests(planned, {}, { baseUrl });
      assertEquals(second[1]!.reasoning_content, "plan");
    }
    const { second } = await twoRequests(planned, {});
    assert(!("reasoning_content" in second[1]!));
  },
);

test("the next user message ends the replay", { case: "B12" }, async () => {
  const { third } = await twoRequests(planned, { reasoningReplay: true });
  assert(!JSON.stringify(third).includes("plan"));
});

test(
  "reasoning that is journaled goes back for good",
  { case: "B12" },
  async () => {
    const compat = { reasoningReplay: true, journalReasoning: true };
    const { kept, third } = await twoRequests(planned, compat);
    assertEquals(third[1]!.reasoning_content, "plan");
    assert(JSON.stringify(kept).includes("plan"));
  },
);

test("each provider gets its own name of the field back", async () => {
  for (const name of ["reasoning", "reasoning_text"]) {
    const text = eventsOf(
      chunk({ [name]: "plan" }),
      chunk({ tool_calls: [call] }, "tool_calls"),
    );
    const { second } = await twoRequests(text, { reasoningReplay: true });
    assertEquals(second[1]![name], "plan");
  }
});

test("signatures of calls are kept and go back in place", async () => {
  const extra = { google: { thought_signature: "SIG" } };
  const other = {
    index: 1,
    id: "c2",
    function: { name: "echo", arguments: "{}" },
  };
  const text = eventsOf(
    chunk({ tool_calls: [other] }),
    chunk({ tool_calls: [{ ...call, extra_content: extra }] }, "tool_calls"),
  );
  const { kept, second, third } = await twoRequests(text, {
    reasoningReplay: true,
  });
  assert(JSON.stringify(kept).includes("SIG"));
  for (const request of [second, third]) {
    const calls = request[1]!.tool_calls as Record<string, unknown>[];
    assertEquals(calls.map(({ extra_content }) => extra_content), [
      extra,
      undefined,
    ]);
  }
  const elsewhere = await twoRequests(text, { reasoningReplay: false });
  assert(!JSON.stringify(elsewhere.second).includes("SIG"));
});

test("encrypted reasoning is kept, readable reasoning is only remembered", async () => {
  const detail = (text: string) => ({ type: "reasoning.text", index: 0, text });
  const secret = {
    type: "reasoning.encrypted",
    index: 1,
    id: "c1",
    data: "ENC",
  };
  const text = eventsOf(
    chunk({ reasoning_details: [detail("h")] }),
    chunk({ reasoning_details: [detail("m")] }),
    chunk({ reasoning_details: [secret], tool_calls: [call] }, "tool_calls"),
  );
  const { kept, second, third } = await twoRequests(text, {
    reasoningReplay: true,
  });
  assertEquals(second[1]!.reasoning_details, [detail("hm"), secret]);
  assertEquals(third[1]!.reasoning_details, [secret]);
  assert(!JSON.stringify(kept).includes("reasoning.text"));
});

test("summaries in pieces become one entry again", async () => {
  const summary = (text: string) => ({
    type: "reasoning.summary",
    summary: text,
  });
  const text = eventsOf(
    chunk({ reasoning_details: [summary("h")] }),
    chunk({ reasoning_details: [summary("m")] }),
    chunk({ tool_calls: [call] }, "tool_calls"),
  );
  const { second } = await twoRequests(text, { reasoningReplay: true });
  assertEquals(second[1]!.reasoning_details, [summary("hm")]);
});

test("data that another adapter kept is not sent", async () => {
  const { fetch, requests } = playing(() => new Response(hi));
  const adapter = await startedAdapter({
    fetch,
    compat: { reasoningReplay: true },
  });
  const message = toAgentMessage({
    content: "A",
    toolCalls: [],
    providerData: { response_id: "r", role: "user", call_extras: "odd" },
  });
  await ask(adapter, contextOf([userMessage("go"), message]));
  const [, sent] = requests[0]!.body.messages as unknown[];
  assertEquals(sent, { role: "assistant", content: "A" });
});

/** Runs a tool turn and another question; gives the messages that were sent. */
async function twoRequests(
  answer: string,
  compat: Partial<ChatCompat>,
  config: { readonly baseUrl?: string } = {},
) {
  const { fetch, requests } = playing(
    () => new Response(answer),
    () => new Response(hi),
    () => new Response(hi),
  );
  const adapter = await startedAdapter({ fetch, compat, config });
  const history: AgentMessage[] = [userMessage("go")];
  const first = await ask(adapter, contextOf(history));
  const kept = toAgentMessage(first.completed!.message);
  history.push(projected(kept));
  history.push(...kept.tool_calls!.map(({ id }) => toolMessage(id, "done")));
  await ask(adapter, contextOf(history));
  await ask(adapter, contextOf([...history, userMessage("and now?")]));
  const [, second, third] = requests.map(({ body }) =>
    body.messages as Record<string, unknown>[]
  );
  return { kept, second: second!, third: third! };
}

/** The message as a context builder hands it over: without metadata, its origin remembered. */
function projected(message: AgentMessage): AgentMessage {
  const { _ejagent_provider: _, ...rest } = message as AgentMessage & {
    _ejagent_provider?: unknown;
  };
  const copy = Object.freeze(rest) as AgentMessage;
  rememberOrigin(copy, message);
  return copy;
}
