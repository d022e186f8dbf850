import { existsSync, readFileSync } from "node:fs";
import { Agent, SessionHistoryProvider } from "../../mod.ts";
import type { AgentMessage } from "../../src/messages/message.ts";
import type { SessionRecord } from "../../src/session/record.ts";
import { ScriptedModel } from "../../src/testing/scripted_model.ts";
import { text } from "../../src/testing/steps.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { runtimesWith } from "../support/runtime.ts";
import { test } from "../support/suite.ts";
import { sessionId } from "./drafts.ts";
import { openStorage } from "./platform.ts";
import { inDirectory, startProgram } from "./processes.ts";

const hosts = runtimesWith("files", "processes");

/** What is there after a run died and another program went on with the session. */
interface Aftermath {
  /** Records that the dead program left. */
  readonly left: readonly SessionRecord[];
  /** Names of the tools that took effect. */
  readonly effects: readonly string[];
  /** What the model was sent by the program that went on. */
  readonly sent: readonly AgentMessage[];
}

async function dieAndGoOn(
  root: string,
  death: readonly [string, string],
): Promise<Aftermath> {
  const file = `${root}.effects`;
  const worker = startProgram(
    "tests/faults/run_program.ts",
    root,
    file,
    ...death,
  );
  assertEquals(await worker.line(), null, "the program dies before it is done");

  const storage = await openStorage(root);
  try {
    const left = await storage.records(sessionId);
    const model = new ScriptedModel([text("went on")]);
    const agent = new Agent({
      agentId: "worker",
      model,
      history: new SessionHistoryProvider({
        storage,
        sessionId,
        onUnfinished: "recover",
      }),
    });
    const result = await agent.run("go on");
    assertEquals([result.status, result.output], ["completed", "went on"]);
    const effects = existsSync(file)
      ? readFileSync(file, "utf8").trim().split("\n")
      : [];
    const sent = model.contexts[0]!.llmMessages as readonly AgentMessage[];
    return { left, effects, sent };
  } finally {
    await storage.close();
  }
}

/** Every call is answered once, right behind the message that made it. */
function assertClosed(messages: readonly AgentMessage[]): void {
  for (const [at, message] of messages.entries()) {
    const ids = message.role === "assistant"
      ? (message.tool_calls ?? []).map(({ id }) => id)
      : [];
    const answers = messages.slice(at + 1, at + 1 + ids.length).map((answer) =>
      answer.role === "tool" ? answer.tool_call_id : null
    );
    assertEquals(answers, ids);
  }
}

test("a run killed behind or inside any record is closed and gone on with", {
  case: "B78",
  runtimes: hosts,
  timeoutMs: 60_000,
}, () =>
  inDirectory(async (directory) => {
    // A run has a start, an answer, a mark and a result for each of three calls, an answer and an end.
    const deaths = [
      ...[1, 2, 4, 9].map((n) => ["record", String(n)] as const),
      ...[0, 3].map((n) => ["torn", String(n)] as const),
    ];
    for (const death of deaths) {
      const name = death.join(" ");
      const { left, effects, sent } = await dieAndGoOn(
        `${directory}/${name}`,
        death,
      );
      assertEquals(left.length, Number(death[1]), name);
      assertClosed(sent);
      const isAnswered = left.some(({ kind }) => kind === "message_appended");
      if (!isAnswered) {
        assertEquals(effects, [], `${name}: no effect unrecorded`);
      }
      assertEquals(sent.at(-1)?.content, "go on");
    }
  }));

test("a call that a kill interrupted is told from one that never began", {
  case: "SE-M-08",
  runtimes: hosts,
}, () =>
  inDirectory(async (directory) => {
    const { effects, sent } = await dieAndGoOn(`${directory}/s`, ["call", "2"]);
    const answers = sent.flatMap((message) =>
      message.role === "tool" ? [String(message.content)] : []
    );
    assertEquals(answers.length, 3);
    assert(effects.includes("two"));
    assertEquals(JSON.parse(answers[1]!).started, undefined, answers[1]);
    assertEquals(JSON.parse(answers[1]!).status, "interrupted");
    assertEquals(JSON.parse(answers[2]!).started, false, answers[2]);
  }));
