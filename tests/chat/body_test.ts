import fc from "fast-check";
import { BodyWriter } from "../../src/chat/body.ts";
import { completeCompat } from "../../src/chat/compat.ts";
import type { AgentMessage } from "../../src/messages/message.ts";
import {
  assistantMessage,
  systemMessage,
  toAgentMessage,
  toolMessage,
  userMessage,
} from "../../src/messages/message.ts";
import type { OpenAIFunctionTool } from "../../src/messages/tool.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const members = { model: "m", stream: true };

test("a body is written the same whether its beginning was kept or not", () => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 25 }), styles, (moves, style) => {
      const kept = new BodyWriter(completeCompat("", style));
      let messages: readonly AgentMessage[] = [systemMessage("S")];
      for (const move of moves) {
        messages = move(messages);
        const fresh = new BodyWriter(completeCompat("", style));
        assertEquals(parsed(kept, messages), parsed(fresh, messages));
      }
    }),
    { seed: 7, numRuns: 400 },
  );
});

test("only new messages are read again", () => {
  const writer = new BodyWriter(completeCompat("", {}));
  let reads = 0;
  const watched = (text: string): AgentMessage => {
    const part = {
      type: "text" as const,
      get text() {
        reads++;
        return text;
      },
    };
    return Object.freeze({
      role: "user" as const,
      content: Object.freeze([Object.freeze(part)]),
    });
  };
  const messages = [watched("a"), watched("b"), watched("c")];
  parsed(writer, messages);
  const before = reads;
  assert(before > 0);
  parsed(writer, messages);
  parsed(writer, [...messages, userMessage("d")]);
  // The first message is looked at to find the conversation; nothing is written again.
  assert(reads - before <= 2, `${reads - before} reads`);
});

test("bodies of one conversation share no memory", () => {
  const writer = new BodyWriter(completeCompat("", {}));
  const messages = [systemMessage("S"), userMessage("U")];
  const first = writer.write(messages, [], members);
  const copy = first.slice();
  const second = writer.write([...messages, userMessage("V")], [], members);
  second.fill(0);
  assertEquals(first, copy);
  assertEquals(parsed(writer, messages).messages.length, 2);
  assert(
    first.buffer !== second.buffer &&
      first.byteLength === first.buffer.byteLength,
  );
});

test("conversations with the same beginning may take turns", () => {
  const writer = new BodyWriter(completeCompat("", {}));
  const shared = [systemMessage("S"), userMessage("both")];
  const left = [...shared, userMessage("left"), userMessage("L")];
  const right = [...shared, userMessage("right")];
  for (let turn = 0; turn < 3; turn++) {
    assertEquals(parsed(writer, left).messages.at(-1), {
      role: "user",
      content: "L",
    });
    assertEquals(parsed(writer, right).messages.length, 3);
  }
});

test("messages and tools that may still change are written anew", () => {
  const writer = new BodyWriter(completeCompat("", {}));
  const message = { role: "user" as const, content: "before" };
  const parts = Object.freeze({
    role: "user" as const,
    content: [{ type: "text" as const, text: "before" }],
  });
  const tool = { type: "function" as const, function: { name: "before" } };
  const messages = [systemMessage("S"), parts, message, userMessage("last")];
  parsed(writer, messages, [tool]);
  message.content = "after";
  parts.content[0]!.text = "after";
  tool.function.name = "after";
  const body = parsed(writer, messages, [tool]);
  assertEquals(body.messages, [
    { role: "system", content: "S" },
    { role: "user", content: [{ type: "text", text: "after" }] },
    { role: "user", content: "after" },
    { role: "user", content: "last" },
  ]);
  assertEquals(body.tools, [{ type: "function", function: { name: "after" } }]);
});

test("long texts beyond ASCII survive the growth of the buffer", () => {
  const writer = new BodyWriter(completeCompat("", {}));
  const messages: AgentMessage[] = [systemMessage("é")];
  for (
    const text of [
      "🌍".repeat(5000),
      "a".repeat(70_000),
      "漢".repeat(30_000),
      "x🌍",
    ]
  ) {
    messages.push(userMessage(text));
    const contents = parsed(writer, messages).messages.map(({ content }) =>
      content
    );
    assertEquals(contents, messages.map(({ content }) => content));
  }
});

test("a conversation without messages is a valid body", () => {
  assertEquals(parsed(new BodyWriter(completeCompat("", {})), []), {
    messages: [],
    ...members,
  });
});

interface Body {
  readonly messages: readonly {
    readonly role: string;
    readonly content: unknown;
  }[];
  readonly tools?: unknown;
}

function parsed(
  writer: BodyWriter,
  messages: readonly AgentMessage[],
  tools: readonly OpenAIFunctionTool[] = [],
): Body {
  return JSON.parse(
    new TextDecoder().decode(writer.write(messages, tools, members)),
  );
}

const styles = fc.record({
  reasoningReplay: fc.boolean(),
  toolCallIds: fc.constantFrom("as-is" as const, "alnum9" as const),
});

type Move = (messages: readonly AgentMessage[]) => readonly AgentMessage[];

const texts = fc.constantFrom(
  "",
  "a",
  "é🌍",
  'quote " and \\ud800',
  "\ud83c",
  "x".repeat(200),
);
const ids = fc.constantFrom("c1", "c2", "callcall1");

const steps: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.oneof(texts.map(userMessage), answers(), results()).map(
      adding,
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat(6).map((count): Move => (messages) =>
      messages.slice(0, 1 + count)
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat(6).map((count): Move => (messages) =>
      messages.slice(count)
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.nat(9), texts).map(
      ([at, text]): Move => (messages) =>
        messages.map((message, index) =>
          index === at ? userMessage(text) : message
        ),
    ),
  },
  {
    weight: 1,
    arbitrary: texts.map((content) => adding({ role: "user", content })),
  },
);

function adding(message: AgentMessage): Move {
  return (messages) => [...messages, message];
}

function answers(): fc.Arbitrary<AgentMessage> {
  return fc.tuple(texts, fc.option(ids), fc.boolean(), fc.boolean()).map(
    ([content, id, replays, keeps]) =>
      toAgentMessage({
        ...assistantMessage(
          content,
          id === null ? [] : [{ id, name: "f", arguments: "{}" }],
        ),
        ...(replays && { replay: { reasoning_content: `about ${content}` } }),
        ...(keeps && { providerData: { call_extras: [{ signature: "S" }] } }),
      }),
  );
}

function results(): fc.Arbitrary<AgentMessage> {
  return fc.tuple(ids, texts).map(([id, text]) => toolMessage(id, text));
}
