import { Agent } from "../../src/agent/agent.ts";
import { AgentContextBuilder } from "../../src/context/builder.ts";
import { interruptedToolMessage } from "../../src/context/interrupted.ts";
import { SessionArgumentError } from "../../src/session/errors.ts";
import { ScriptedModel } from "../../src/testing/scripted_model.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { journalFixtures, type Json, openFixture } from "./python_journals.ts";

const restorable = journalFixtures.filter(({ read, restore }) =>
  read.ok && read.session !== null && restore !== null
);

/** Where the next request differs from that of the writer, and on purpose. */
const ownRequests: Readonly<Record<string, (messages: Json[]) => Json[]>> = {
  // Calls that nobody answered are closed.
  "cancelled-by-caller": (messages) => [...messages, interrupted("c1", "hang")],
  "failed-repeated-tool-call": (
    messages,
  ) => [...messages, interrupted("c3", "echo")],
  "tool-completion-dangling": (
    messages,
  ) => [...messages, interrupted("c2", "echo")],
  // Answers without anything in them are left out.
  "failed-empty-response": (messages) => messages.slice(0, -1),
  // Half a surrogate pair has no UTF-8 form.
  "lone-surrogate-escape": (messages) =>
    messages.map((message) => ({
      ...message,
      content: message.content.replace("\ud83d", "\ufffd"),
    })),
};

/** Where the history differs, and on purpose: usage that a compaction made stale is dropped. */
const ownHistories: Readonly<Record<string, (messages: Json[]) => Json[]>> = {
  "compaction-repeated": (messages) =>
    messages.map(({ usage: _stale, ...message }) => message),
};

/** Whether the agent may go on where the writer's may not: interruptions are visible to the model. */
const ownContinuations: Readonly<Record<string, string | null>> = {
  "recovered-run": null,
};

function interrupted(id: string, name: string): Json {
  return interruptedToolMessage({ id, name });
}

function agentFor(
  name: string,
): { readonly agent: Agent; restore(): Promise<void> } {
  const { expected, storage } = openFixture(name);
  const agent = new Agent({
    agentId: expected.agent_id,
    systemPrompt: "SYSTEM PROMPT",
    model: new ScriptedModel([]),
  });
  return {
    agent,
    async restore() {
      agent.restoreSession((await storage.load(expected.session_id))!);
    },
  };
}

for (
  const { case: name, restore } of restorable.filter((one) => one.restore.ok)
) {
  test(`an agent takes ${name} over as its writer does`, {
    case: ["SE-I-11", "SE-I-09"],
  }, async () => {
    const { agent, restore: takeOver } = agentFor(name);
    await takeOver();
    const history = ownHistories[name]?.(restore.agent_messages) ??
      restore.agent_messages;
    const request = ownRequests[name]?.(restore.llm_messages) ??
      restore.llm_messages;
    const { llmMessages } = new AgentContextBuilder().build(
      { messages: agent.messages },
      { tools: [], toolDefinitions: [] },
    );
    assertEquals<unknown>(agent.messages, history);
    assertEquals<unknown>(llmMessages, request);
    assertEquals(
      agent.continueRejectionReason,
      name in ownContinuations
        ? ownContinuations[name]
        : restore.continue_rejection_reason,
    );
    assert(
      !JSON.stringify(llmMessages).includes("_simagentplg_"),
      "Former metadata is sent",
    );
  });
}

test(
  "a session with an open run is not taken over",
  { case: "SE-M-06" },
  async () => {
    const open = restorable.filter((one) => !one.restore.ok);
    assert(open.length > 3);
    for (const { case: name, session_id: id } of open) {
      const { expected, storage } = openFixture(name);
      const agent = new Agent({
        agentId: expected.agent_id,
        model: new ScriptedModel([]),
      });
      const session = (await storage.load(id))!;
      const error = assertThrows(
        () => agent.restoreSession(session),
        SessionArgumentError,
      );
      assertEquals(error.code, "unfinished_run");
      assert(
        error.message.includes(session.unfinishedRunIds[0]!),
        "The run is not named",
      );
      await agent.recoverSession(storage, { sessionId: id });
      assertEquals(
        agent.messages.at(-1),
        (await storage.load(id))!.messages.at(-1),
      );
    }
  },
);
