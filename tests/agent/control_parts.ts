import {
  AgentCancelledError,
  type AgentOptions,
  behaviorStop,
  cancel,
  CompactionPolicy,
  complete,
  ContextBudget,
  ContextOverflowError,
  defineTool,
  type Middleware,
  type ModelAdapter,
  reject,
  type ToolExecutionContext,
} from "../../mod.ts";
import {
  block,
  calls,
  deltas,
  fail,
  ScriptedModel,
  type ScriptRequest,
  type ScriptStep,
  text,
} from "../../src/testing/mod.ts";
import type { AnswerPlan, HelperPlan, Plan, ToolPlan } from "./control_plan.ts";
import { aborted } from "./fixtures.ts";

/** The parts of an agent that act as a plan says; sinks and ports are left to the caller. */
export function partsOf(
  plan: Plan,
): Omit<AgentOptions, "eventSink" | "clock" | "logger"> {
  return {
    agentId: "a",
    systemPrompt: "P",
    model: modelOf(plan),
    tools: (["read", "work"] as const).map((name) =>
      defineTool({
        name,
        effect: name === "read" ? "read_only" : "side_effecting",
        execute: (args: Record<string, unknown>, context) =>
          act(args.plan as ToolPlan, context),
      })
    ),
    behaviorHooks: [hookOf(plan)],
    middleware: plan.layered ? [passing] : [],
    steeringQueueCapacity: 2,
    followUpQueueCapacity: 2,
    followUpFailurePolicy: plan.followUpFailurePolicy,
    sinkTimeoutMs: 50,
    runtimePolicy: {
      abortGraceMs: 20,
      maxSteps: plan.maxSteps,
      maxRepeatedToolCalls: Infinity,
      parallelToolCalls: plan.parallelToolCalls,
    },
    ...compactionOf(plan),
  };
}

const passing: Middleware = {
  async *aroundRun(_request, next) {
    return yield* next();
  },
  async *aroundModel(_request, next) {
    return yield* next();
  },
  aroundTool: (_context, next) => next(),
};

function modelOf({ answers, startupFailingAt }: Plan): ModelAdapter {
  const model = new ScriptedModel((request) =>
    stepOf(answers[request.index % answers.length]!, request)
  );
  let startupCount = 0;
  model.startup = async () => {
    await null;
    startupCount += 1;
    if (startupCount === startupFailingAt) throw new Error("no model");
  };
  return model;
}

function stepOf(answer: AnswerPlan, { index }: ScriptRequest): ScriptStep {
  switch (answer.kind) {
    case "text":
      return text(`answer ${index}`);
    case "empty":
      return text(null);
    case "fail":
      return fail(new Error("the model failed"));
    case "overflow":
      return fail(new ContextOverflowError("too large"));
    case "hang":
      return block();
    case "ignore the abort":
      return block(undefined, { ignoreAbort: true });
    case "stream": {
      const pieces = Array.from({ length: answer.pieces }, (_, at) => `${at}`);
      return deltas(
        pieces,
        {
          text: text(pieces.join("")),
          fail: fail(new Error("the stream broke")),
          hang: block(),
        }[answer.end],
      );
    }
    case "calls":
      return calls(
        answer.tools.map(({ name, plan }) => ({ name, arguments: { plan } })),
      );
  }
}

async function act(plan: ToolPlan, context: ToolExecutionContext) {
  switch (plan) {
    case "value":
      return "value";
    case "slow":
      for (let tick = 0; tick < 5; tick++) await null;
      return "slow value";
    case "progress":
      await context.progress.report("half");
      return "value";
    case "throw":
      throw new Error("the tool failed");
    case "throw a cancellation":
      throw new AgentCancelledError("nobody aborted");
    case "complete":
      return complete("completed");
    case "reject":
      return reject("rejected");
    case "cancel":
      return cancel("cancelled");
    case "hang":
      return await aborted(context.signal);
    case "ignore the abort":
      return await never();
  }
}

function hookOf({ hooks }: Plan) {
  const next = roundAndRound(hooks);
  return {
    name: "hook",
    afterTurn: (_turn: unknown, { signal }: { readonly signal: AbortSignal }) =>
      help(next(), signal, () => behaviorStop("stopped")),
  };
}

function compactionOf(plan: Plan): Partial<AgentOptions> {
  if (plan.compaction === "none") return {};
  const next = roundAndRound(plan.compactions);
  const summary = { content: "short", source: "test" };
  return {
    compactionPolicy: new CompactionPolicy({
      budget: new ContextBudget({
        contextWindow: 100,
        reserveTokens: 10,
        keepRecentTokens: 5,
      }),
    }),
    ...(plan.compaction === "automatic" && { autoCompactionPolicy: {} }),
    compactor: {
      compact: async (_request, { signal }) =>
        await help(next(), signal, () => summary) ?? summary,
    },
  };
}

async function help<T>(
  plan: HelperPlan,
  signal: AbortSignal,
  act: () => T,
): Promise<T | null> {
  switch (plan) {
    case "pass":
      return null;
    case "act":
      return act();
    case "throw":
      throw new Error("the helper failed");
    case "hang":
      return await aborted(signal);
    case "ignore the abort":
      return await never();
  }
}

function roundAndRound<T>(list: readonly T[]): () => T {
  let count = 0;
  return () => list[count++ % list.length]!;
}

function never(): Promise<never> {
  return new Promise(() => {});
}
