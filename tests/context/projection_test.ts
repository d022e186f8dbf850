import fc from "fast-check";
import {
  AgentContextBuilder,
  type ContextParts,
} from "../../src/context/builder.ts";
import { Conversation } from "../../src/context/conversation.ts";
import type { AgentMessage } from "../../src/messages/message.ts";
import type { ContextBuildResult } from "../../src/model/adapter.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { histories } from "./histories.ts";
import { complaintsAbout } from "./transcript.ts";

type Step =
  | { readonly kind: "append"; readonly messages: AgentMessage[] }
  | { readonly kind: "replace"; readonly messages: AgentMessage[] }
  | { readonly kind: "build"; readonly parts: ContextParts };

const plainMessages = histories.map((messages) =>
  messages.filter(({ role }) => role === "system" || role === "user")
);

const parts: fc.Arbitrary<ContextParts> = fc.record({
  skillMessages: plainMessages,
  instructions: fc.constantFrom(null, "", "be kind"),
  contextMessages: fc.oneof(plainMessages, histories),
  runStart: fc.integer({ min: -1, max: 20 }),
  transientMessages: plainMessages,
}, { requiredKeys: [] });

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("append" as const), messages: histories }),
    fc.record({ kind: fc.constant("replace" as const), messages: histories }),
    fc.record({ kind: fc.constant("build" as const), parts }),
  ),
  { maxLength: 12 },
);

test("every history gives a transcript that a strict provider takes", () => {
  fc.assert(
    fc.property(histories, parts, (messages, additions) => {
      const { llmMessages } = new AgentContextBuilder().build(
        { messages },
        additions,
      );
      assertEquals(complaintsAbout(llmMessages), []);
    }),
    { numRuns: 500 },
  );
});

test("a valid transcript is sent as it is", () => {
  fc.assert(fc.property(histories, (messages) => {
    const builder = new AgentContextBuilder();
    const { llmMessages } = builder.build({ messages });
    const again = builder.build({ messages: llmMessages });
    assertEquals(again.llmMessages, llmMessages);
    assertEquals(again.repairs, { synthesised: [], dropped: 0 });
  }));
});

test("what is kept and extended equals what is made anew, and results never change", () => {
  fc.assert(
    fc.property(steps, (script) => {
      const conversation = new Conversation();
      const builder = new AgentContextBuilder();
      const results: [ContextBuildResult, string][] = [];
      for (const step of script) {
        if (step.kind === "replace") conversation.replace(step.messages);
        if (step.kind === "append") {
          for (const message of step.messages) conversation.append(message);
        }
        const additions = step.kind === "build" ? step.parts : {};
        const built = builder.build(conversation, additions);
        const { messages } = conversation;
        assertEquals(
          built,
          new AgentContextBuilder().build({ messages }, additions),
        );
        assertEquals(built, new MadeAnew().build({ messages }, additions));
        results.push([built, JSON.stringify(built)]);
      }
      for (const [built, before] of results) {
        assertEquals(JSON.stringify(built), before);
      }
    }),
    { numRuns: 300 },
  );
});

test("repairs name what is there and nothing else", () => {
  fc.assert(fc.property(histories, (messages) => {
    const { agentMessages, llmMessages, repairs } = new AgentContextBuilder()
      .build({ messages });
    assertEquals(
      llmMessages.length,
      agentMessages.length + repairs.synthesised.length - repairs.dropped,
    );
    const made = llmMessages.filter((message) =>
      message.role === "tool" && message.content.includes('"interrupted"')
    );
    assertEquals(made.length, repairs.synthesised.length);
  }));
});

/** Gives up the kept projection by overriding the hook. */
class MadeAnew extends AgentContextBuilder {
  override convertToLlmMessages(
    messages: readonly AgentMessage[],
  ): readonly AgentMessage[] {
    return messages;
  }
}
