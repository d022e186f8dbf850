/**
 * A traced run: OpenTelemetry sees every run, model request and tool call, and
 * their spans are printed as a tree.
 *
 * The agent needs the API of OpenTelemetry only. Which SDK records and where the
 * spans go is the business of the program; here they stay in memory.
 *
 *     deno task examples 23
 *
 * @module
 */

import { Agent, agentTool, defineTool } from "@ejagent/core";
import { telemetry } from "@ejagent/core/telemetry";
import { calls, text } from "@ejagent/core/testing";
import { trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { exampleModel } from "./support/provider.ts";
import { paint } from "./support/terminal.ts";

const exporter = new InMemorySpanExporter();
trace.setGlobalTracerProvider(
  new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  }),
);

const provider = await exampleModel([
  calls([{ name: "geographer", arguments: { task: "Rivers of Lyon?" } }], {
    usage: { inputTokens: 90, outputTokens: 20 },
  }),
  calls([{ name: "atlas", arguments: { city: "Lyon" } }], {
    usage: { inputTokens: 70, outputTokens: 15 },
  }),
  text("The Rhône and the Saône.", {
    usage: { inputTokens: 95, outputTokens: 9 },
  }),
  text("Lyon lies where the Saône meets the Rhône.", {
    usage: { inputTokens: 130, outputTokens: 12 },
  }),
]);
console.log(provider.describe);

// First in the list: what other middleware does is then part of the spans.
const tracing = telemetry({ attributes: { "service.name": "example" } });

const atlas = defineTool({
  name: "atlas",
  description: "Knows the rivers of a city.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  },
  effect: "read_only",
  execute: () => ["Rhône", "Saône"],
});
const geographer = new Agent({
  agentId: "geographer",
  description: "Answers questions about places.",
  model: provider.model,
  tools: [atlas],
  middleware: [tracing],
});
const author = new Agent({
  agentId: "author",
  model: provider.model,
  systemPrompt: "You write travel guides. Ask the geographer for facts.",
  tools: [agentTool(geographer)],
  middleware: [tracing],
});

const result = await author.run("One sentence about Lyon");
console.log(result.output ?? result.error);
printTree(exporter.getFinishedSpans());

await author.shutdown();
await geographer.shutdown();
await provider.close();

/** Prints the spans below a parent; the ended order has children first. */
function printTree(
  spans: readonly ReadableSpan[],
  parentId?: string,
  indent = "",
): void {
  const children = spans
    .filter(({ parentSpanContext: parent }) => parent?.spanId === parentId)
    .sort((a, b) => millisecondsOf(a.startTime) - millisecondsOf(b.startTime));
  for (const span of children) {
    console.log(`${indent}${span.name} ${paint.dim(factsOf(span))}`);
    printTree(spans, span.spanContext().spanId, `${indent}  `);
  }
}

function factsOf({ attributes, duration }: ReadableSpan): string {
  const input = attributes["gen_ai.usage.input_tokens"];
  const output = attributes["gen_ai.usage.output_tokens"];
  const tokens = input === undefined ? "" : `, ${input} + ${output} tokens`;
  return `(${millisecondsOf(duration)} ms${tokens})`;
}

function millisecondsOf([seconds, nanoseconds]: [number, number]): number {
  return seconds * 1000 + Math.round(nanoseconds / 1e6);
}
