import fc from "fast-check";
import type { AgentMessage } from "../../src/messages/message.ts";
import { callEntry, calling, result, withUsage } from "./messages.ts";

const ids = fc.constantFrom("a", "b", "c", "a_2");
const inventedCalls = fc.tuple(
  ids,
  fc.constantFrom("functions.work", "", "get weather", "天気", "w".repeat(65)),
).map(([id, name]) => ({
  ...callEntry(id),
  function: { name, arguments: "{}" },
}));
const texts = fc.constantFrom("", " ", "text", "half \ud83d", "whole 🚀");

const brokenMessages: fc.Arbitrary<AgentMessage> = fc.oneof(
  fc.record({
    role: fc.constantFrom("user" as const, "system" as const),
    content: texts,
  }),
  texts.map((content) => ({ role: "assistant" as const, content })),
  texts.map((text) => ({
    role: "assistant",
    content: [{ type: "text", text }],
  } as unknown as AgentMessage)),
  fc.record({
    role: fc.constant("assistant" as const),
    content: fc.oneof(texts, fc.constant(null)),
    tool_calls: fc.array(
      fc.oneof(
        ids.map(callEntry),
        inventedCalls,
        fc.constantFrom({}, null, { id: "", function: {} }),
      ),
      { maxLength: 3 },
    ),
  }) as unknown as fc.Arbitrary<AgentMessage>,
  ids.map((id) => result(id)),
  fc.constant(
    {
      role: "assistant",
      content: null,
      tool_calls: null,
    } as unknown as AgentMessage,
  ),
);

const exchanges: fc.Arbitrary<AgentMessage[]> = fc
  .uniqueArray(ids, { minLength: 1, maxLength: 3 })
  .chain((calls) =>
    fc.shuffledSubarray(calls, { minLength: calls.length })
      .map((answers) => [calling(calls), ...answers.map((id) => result(id))])
  );

/** Messages with metadata now and then. */
function decorated(
  messages: fc.Arbitrary<AgentMessage>,
): fc.Arbitrary<AgentMessage> {
  return fc.tuple(messages, fc.integer({ min: 0, max: 3 })).map(
    ([message, kind]) => {
      if (kind === 0) return withUsage(message, 100);
      return kind === 1 ? { ...message, _ejagent_note: { a: 1 } } : message;
    },
  );
}

/** Histories of complete exchanges mixed with messages that break every rule. */
export const histories: fc.Arbitrary<AgentMessage[]> = fc.array(
  fc.oneof(exchanges, decorated(brokenMessages).map((message) => [message])),
  { maxLength: 12 },
).map((pieces) => pieces.flat());
