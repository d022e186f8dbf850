import { Agent } from "../../mod.ts";
import { calls, ScriptedModel, text } from "../../src/testing/mod.ts";
import type { TelemetryOptions } from "../../src/telemetry/mod.ts";
import { echo } from "../agent/fixtures.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { recorder } from "./recorder.ts";

/** The attributes of the four spans of a run with one call of echo, by name. */
async function attributesWith(
  options: TelemetryOptions,
): Promise<{ warnings: number; spans: Record<string, unknown>[] }> {
  const one = recorder(options);
  const agent = new Agent({
    agentId: "a",
    systemPrompt: "the instructions",
    tools: [echo],
    model: new ScriptedModel([
      calls([{ name: "echo", arguments: { text: "a" } }]),
      text("the answer"),
    ]),
    middleware: [one.middleware],
  });
  await agent.run("the task");
  const spans = one.spans().map(({ attributes }) => ({ ...attributes }));
  await one.shutdown();
  return { warnings: one.logger.warnings.length, spans };
}

const contentNames = [
  "gen_ai.input.messages",
  "gen_ai.output.messages",
  "gen_ai.system_instructions",
  "gen_ai.tool.definitions",
  "gen_ai.tool.call.arguments",
  "gen_ai.tool.call.result",
];

/** What the content attributes of a span say. */
function contentOf(span: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    contentNames.filter((name) => name in span).map((name) => [
      name.replace("gen_ai.", ""),
      JSON.parse(String(span[name])),
    ]),
  );
}

test("nothing that was said is written unless it is asked for", {
  case: "PL-E-10",
}, async () => {
  const { spans } = await attributesWith({});
  const written = JSON.stringify(spans);
  for (
    const said of ["the task", "the answer", "the instructions", '\\"text\\"']
  ) {
    assertEquals([said, written.includes(said)], [said, false]);
  }
  assertEquals(spans.map(contentOf), [{}, {}, {}, {}]);
});

test("captured content has the form of the conventions", {
  case: "PL-E-10",
}, async () => {
  const { spans } = await attributesWith({ captureContent: true });
  const [run, first, tool, second] = spans.map(contentOf);
  const task = { role: "user", parts: [{ type: "text", content: "the task" }] };
  const answer = [{ type: "text", content: "the answer" }];
  const call = {
    type: "tool_call",
    id: "c1",
    name: "echo",
    arguments: { text: "a" },
  };
  assertEquals(run, {
    "input.messages": [task],
    "output.messages": [
      { role: "assistant", parts: answer, finish_reason: "text_response" },
    ],
  });
  assertEquals(first?.["input.messages"], [task]);
  assertEquals(first?.["output.messages"], [
    { role: "assistant", parts: [call], finish_reason: "tool_calls" },
  ]);
  const [instruction] = first?.["system_instructions"] as { content: string }[];
  assert(instruction?.content.includes("the instructions"));
  const [definition] = first?.["tool.definitions"] as { name: string }[];
  assertEquals(definition?.name, "echo");
  assertEquals(tool, {
    "tool.call.arguments": { text: "a" },
    "tool.call.result": { e: { text: "a" } },
  });
  assertEquals(second?.["input.messages"], [
    task,
    { role: "assistant", parts: [call] },
    {
      role: "tool",
      parts: [{
        type: "tool_call_response",
        id: "c1",
        response: '{"e":{"text":"a"}}',
      }],
    },
  ]);
});

test("content passes through redact, which can leave it out", {
  case: "PL-E-11",
}, async () => {
  const kinds = new Set<string>();
  const { spans } = await attributesWith({
    captureContent: true,
    redact(kind) {
      kinds.add(kind);
      return kind === "instructions" ? undefined : "***";
    },
  });
  const [run, chat, tool] = spans.map(contentOf);
  assertEquals(run, { "input.messages": "***", "output.messages": "***" });
  assertEquals(chat, {
    "input.messages": "***",
    "output.messages": "***",
    "tool.definitions": "***",
  });
  assertEquals(tool, {
    "tool.call.arguments": "***",
    "tool.call.result": "***",
  });
  assertEquals([...kinds].sort(), [
    "input",
    "instructions",
    "output",
    "tool_arguments",
    "tool_definitions",
    "tool_result",
  ]);
});

test("a redact that throws writes nothing and is told about once", async () => {
  const { spans, warnings } = await attributesWith({
    captureContent: true,
    redact() {
      throw new Error("no rule");
    },
  });
  assertEquals(spans.map(contentOf), [{}, {}, {}, {}]);
  assertEquals(warnings, 1);
});

test("parts that are no text keep their kind", async () => {
  const one = recorder({ captureContent: true });
  const agent = new Agent({
    agentId: "a",
    model: new ScriptedModel([text("seen")]),
    middleware: [one.middleware],
  });
  await agent.run([
    { type: "text", text: "Look" },
    { type: "image_url", image_url: { url: "https://pictures.example/1" } },
    { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } },
    { type: "file", file: { file_id: "f1" } },
  ]);
  const run = contentOf({ ...one.span("invoke_agent a").attributes });
  await one.shutdown();
  assertEquals(run["input.messages"], [{
    role: "user",
    parts: [
      { type: "text", content: "Look" },
      { type: "uri", modality: "image", uri: "https://pictures.example/1" },
      {
        type: "blob",
        modality: "audio",
        mime_type: "audio/wav",
        content: "UklGRg==",
      },
      { type: "file", modality: "file", file_id: "f1" },
    ],
  }]);
});
