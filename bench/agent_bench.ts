/** What the loop itself costs: scripted answers, no provider, no network. */

import { Agent, defineTool } from "@ejagent/core";
import { calls, deltas, ScriptedModel, text } from "@ejagent/core/testing";

const add = defineTool({
  name: "add",
  description: "Adds two numbers.",
  parameters: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
  effect: "read_only",
  execute: ({ a, b }) => a + b,
});

Deno.bench("a run of one turn", async () => {
  const agent = new Agent({
    agentId: "bench",
    model: new ScriptedModel([text("Hello")]),
  });
  await agent.runText("Hi");
});

for (const turnCount of [10, 400]) {
  Deno.bench(`a run of ${turnCount} turns, each with a tool call`, async () => {
    const model = new ScriptedModel([...toolTurns(turnCount), text("Done")]);
    const runtimePolicy = { maxSteps: turnCount + 1 };
    const agent = new Agent({
      agentId: "bench",
      model,
      tools: [add],
      runtimePolicy,
    });
    await agent.runText("Add");
  });
}

for (const runCount of [10, 100]) {
  Deno.bench(`a conversation of ${runCount} runs`, async () => {
    const model = new ScriptedModel(
      Array.from({ length: runCount }, () => text("Hello")),
    );
    const agent = new Agent({ agentId: "bench", model });
    for (let run = 0; run < runCount; run += 1) await agent.runText("Hi");
  });
}

const pieces = Array.from({ length: 10_000 }, () => "x");
const group = `an answer of ${pieces.length} deltas`;

Deno.bench("iterate over them", { group, baseline: true }, async () => {
  for await (const _ of events()) { /* Nothing is done with them. */ }
});

Deno.bench("a run with a sink", { group }, async () => {
  let length = 0;
  const agent = new Agent({
    agentId: "bench",
    model: new ScriptedModel([deltas(pieces)]),
    eventSink: {
      emit(event) {
        if (event.kind === "assistant_text_delta") length += event.delta.length;
      },
    },
  });
  await agent.runText("Write");
  if (length !== pieces.length) throw new Error("Deltas are missing");
});

async function* events(): AsyncGenerator<{ kind: string; delta: string }> {
  for (const delta of pieces) yield await { kind: "text_delta", delta };
}

function toolTurns(count: number): ReturnType<typeof calls>[] {
  return Array.from({ length: count }, (_, index) => {
    return calls([{ name: "add", arguments: { a: index, b: 1 } }]);
  });
}
