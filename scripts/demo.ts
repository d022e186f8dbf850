/**
 * A guided tour of the core in under a minute: streaming, a tool with progress,
 * memory, what it all cost, and the same conversation in a process of another
 * runtime.
 *
 *     deno task demo
 *
 * @module
 */

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import {
  Agent,
  type AgentEvent,
  defineTool,
  SessionHistoryProvider,
} from "@ejagent/core";
import {
  calls,
  deltas,
  type ScriptRequest,
  type ServerStep,
  text,
  thinking,
} from "@ejagent/core/testing";
import { platform } from "../examples/support/platform.ts";
import { exampleModel } from "../examples/support/provider.ts";
import { paint, write } from "../examples/support/terminal.ts";

/** One stop of the tour. */
interface Chapter {
  readonly title: string;
  /** What there is to see. */
  readonly about: string;
  readonly play: (agent: Agent) => Promise<void>;
}

const chapters: readonly Chapter[] = [
  {
    title: "Streaming",
    about: "Thinking and text arrive as the model produces them.",
    play: (agent) => ask(agent, "Who are you? Two short sentences, please."),
  },
  {
    title: "A tool",
    about: "The model asks for a call, the tool reports how far it is.",
    play: (agent) => ask(agent, "How many primes are there below 200000?"),
  },
  {
    title: "Memory",
    about: "A second run knows what the first one was about.",
    play: (agent) => ask(agent, "Which limit did I ask about just now?"),
  },
  {
    title: "Another process",
    about:
      "The conversation is a session in a file; another runtime goes on with it.",
    play: () => resume("And which limit was that again?"),
  },
];

const countPrimes = defineTool({
  name: "count_primes",
  description: "Counts the primes below a limit.",
  parameters: {
    type: "object",
    properties: { limit: { type: "integer", minimum: 2, maximum: 10_000_000 } },
    required: ["limit"],
  },
  effect: "read_only",
  async execute({ limit }, { progress, signal }) {
    const parts = 4;
    let count = 0;
    for (let part = 1; part <= parts; part += 1) {
      signal.throwIfAborted();
      const from = Math.ceil(limit * (part - 1) / parts);
      const to = Math.ceil(limit * part / parts);
      for (let n = from; n < to; n += 1) if (isPrime(n)) count += 1;
      await progress.report(`searched up to ${to}`, { done: part / parts });
    }
    return { limit, count };
  },
});

const provider = await exampleModel(offline);
const folder = mkdtempSync(join(tmpdir(), "tour-"));
const sessionId = "tour";
const agent = new Agent({
  agentId: "guide",
  model: provider.model,
  history: new SessionHistoryProvider({
    storage: new platform.JsonlSessionStorage(folder),
    sessionId,
  }),
  systemPrompt:
    "You are the guide of a short tour. Never count by yourself: use your tools.",
  tools: [countPrimes],
});

console.log(paint.dim(provider.describe));
for (const [index, chapter] of chapters.entries()) {
  console.log(`\n${paint.bold(`${index + 1}. ${chapter.title}`)}`);
  console.log(paint.dim(chapter.about));
  await chapter.play(agent);
  if (!agent.state.lastRunResult?.succeeded) process.exitCode = 1;
  if (process.exitCode) break;
}
await agent.shutdown();
await provider.close();
rmSync(folder, { recursive: true });

/** Asks in a process of its own, which reads the session from its file: on Bun if npm is here. */
async function resume(question: string): Promise<void> {
  console.log(`\n${paint.cyan("you   >")} ${question}`);
  const program = ["examples/support/resume.ts", folder, sessionId, question];
  process.exitCode = await exitCodeOf("npx", "--yes", "bun@1.4.5", ...program)
    .catch(() => exitCodeOf(process.execPath, "run", "-A", "-q", ...program));
}

/** Runs a program with the settings of this tour. Rejects if it cannot be started. */
function exitCodeOf(command: string, ...args: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, ...provider.environment },
    });
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

async function ask(agent: Agent, question: string): Promise<void> {
  console.log(`\n${paint.cyan("you   >")} ${question}`);
  let mode = "";
  /** Begins a new line whenever something else begins to happen. */
  const enter = (next: string, label: string) => {
    if (mode === next) return;
    write(`${mode === "" ? "" : "\n"}${label} `);
    mode = next;
  };
  for await (const event of agent.stream(question)) {
    switch (event.kind) {
      case "assistant_thinking_delta":
        enter("thinking", paint.dim("guide ~"));
        write(paint.dim(event.delta));
        break;
      case "assistant_text_delta":
        enter("text", paint.green("guide >"));
        write(event.delta);
        break;
      case "tool_started":
        enter("tool", paint.yellow("tool  *"));
        write(`${event.toolCall.name} ${event.toolCall.arguments}`);
        break;
      case "tool_progressed":
        write(`\n        ${event.update.message}`);
        break;
      case "tool_completed":
        write(`\n        ${event.result.error ?? resultOf(event)}`);
        break;
      case "agent_finished":
        write(`\n${paint.dim(summaryOf(event))}\n`);
    }
  }
}

type EventOf<Kind> = Extract<AgentEvent, { kind: Kind }>;

function resultOf({ result }: EventOf<"tool_completed">): string {
  return result.messages[0]?.content ?? "";
}

function summaryOf({ result }: EventOf<"agent_finished">): string {
  const { usage, turns, status, error } = result;
  const indent = " ".repeat(8);
  if (error !== null) return `${indent}${status}: ${error}`;
  const tokens = usage.complete
    ? `${usage.inputTokens} tokens read, ${usage.outputTokens} written`
    : "the provider did not count the tokens";
  const length = turns === 1 ? "one turn" : `${turns} turns`;
  return `${indent}${status} after ${length}; ${tokens}`;
}

function isPrime(n: number): boolean {
  if (n < 2) return false;
  for (let factor = 2; factor * factor <= n; factor += 1) {
    if (n % factor === 0) return false;
  }
  return true;
}

/** The guide of a tour without a provider. It too has to look, to ask its tool and to remember. */
function offline({ messages }: ScriptRequest): ServerStep {
  const last = messages.at(-1);
  const limit = /below (\d+)/.exec(JSON.stringify(messages))?.[1];
  if (last?.role === "tool") {
    const { count } = JSON.parse(last.content);
    return say(`There are ${count} primes below ${limit}.`, 164, 17);
  }
  if (limit === undefined) {
    return say(
      "I am the guide of this tour, played by a model server inside this very process. " +
        "It speaks the same wire format as a real provider.",
      58,
      52,
      "Two sentences, short and honest.",
    );
  }
  if (String(last?.content).includes("primes")) {
    return deltas(
      words("Counting is not what I am good at; I have a tool for it.").map(
        thinking,
      ),
      calls([{ name: "count_primes", arguments: { limit: Number(limit) } }], {
        usage: { inputTokens: 121, outputTokens: 29, reasoningTokens: 9 },
      }),
    );
  }
  return say(`It was ${limit}.`, 203, 8);
}

function say(
  sentence: string,
  inputTokens: number,
  outputTokens: number,
  thought = "",
): ServerStep {
  return deltas(
    [...words(thought).map(thinking), ...words(sentence)],
    text(sentence, { usage: { inputTokens, outputTokens } }),
  );
}

function words(sentence: string): string[] {
  return sentence.match(/\S+\s*/g) ?? [];
}
