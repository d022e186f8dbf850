import fc from "fast-check";
import type { ModelToolCall } from "../../src/messages/tool.ts";
import { defineTool } from "../../src/tools/define_tool.ts";
import { cancel, complete, reject } from "../../src/tools/outcome.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { call, openCancellation, settle, started } from "./tool_kit.ts";

const behaviours = [
  "value",
  "throw",
  "complete",
  "reject",
  "cancel",
  "not json",
  "unknown tool",
] as const;

/** One call of a random answer. */
interface Plan {
  readonly effect: "read_only" | "side_effecting";
  readonly behaviour: (typeof behaviours)[number];
  /** Turns of the microtask queue that the tool takes. */
  readonly ticks: number;
  /** Calls with the same number look the same to the repetition guard. */
  readonly likeness: number;
}

/** Where and how an answer is interrupted, if at all. */
interface Interruption {
  readonly kind: "none" | "abort" | "halt";
  /** Number of the report that interrupts. */
  readonly at: number;
}

const plans = fc.array(
  fc.record({
    effect: fc.constantFrom("read_only" as const, "side_effecting" as const),
    behaviour: fc.oneof(
      { weight: 6, arbitrary: fc.constant("value" as const) },
      { weight: 4, arbitrary: fc.constantFrom(...behaviours) },
    ),
    ticks: fc.nat(4),
    likeness: fc.oneof(
      { weight: 3, arbitrary: fc.nat(1000) },
      { weight: 1, arbitrary: fc.constant(0) },
    ),
  }),
  { maxLength: 12 },
);

const interruptions: fc.Arbitrary<Interruption> = fc.record({
  kind: fc.constantFrom("none" as const, "abort" as const, "halt" as const),
  at: fc.nat(24),
});

const policies = fc.record({
  parallelToolCalls: fc.boolean(),
  maxParallelToolCalls: fc.option(fc.integer({ min: 1, max: 4 })),
  maxRepeatedToolCalls: fc.constantFrom(2, 3, Infinity),
});

function toCall(plan: Plan, index: number): ModelToolCall {
  const id = String(index);
  if (plan.behaviour === "unknown tool") return call(id, "nobody", plan);
  if (plan.behaviour === "not json") return call(id, plan.effect, "{oops");
  return call(id, plan.effect, { likeness: plan.likeness });
}

/** Runs a random answer and checks, while it runs, what the tools must never see. */
async function play(
  list: readonly Plan[],
  policy: {
    readonly parallelToolCalls: boolean;
    readonly maxParallelToolCalls: number | null;
    readonly maxRepeatedToolCalls: number;
  },
  interruption: Interruption,
) {
  const active = new Set<number>();
  const executed: number[] = [];
  const limit = policy.parallelToolCalls
    ? policy.maxParallelToolCalls ?? Infinity
    : 1;
  const enter = (index: number) => {
    active.add(index);
    executed.push(index);
    assert(active.size <= limit, "the limit is never exceeded");
    const indexes = [...active];
    const inBetween = list.slice(
      Math.min(...indexes),
      Math.max(...indexes) + 1,
    );
    assert(
      indexes.length === 1 ||
        inBetween.every(({ effect, behaviour }) =>
          effect === "read_only" && behaviour !== "unknown tool"
        ),
      "only neighbouring reads run side by side",
    );
  };
  const tools = (["read_only", "side_effecting"] as const).map((effect) =>
    defineTool({
      name: effect,
      effect,
      execute: async (_args, { toolCallId }) => {
        const index = Number(toolCallId);
        const { behaviour, ticks } = list[index]!;
        enter(index);
        try {
          for (let tick = 0; tick < ticks; tick++) await null;
          switch (behaviour) {
            case "throw":
              throw new Error("failed");
            case "complete":
              return complete(index);
            case "reject":
              return reject(index);
            case "cancel":
              return cancel(index);
            default:
              return index;
          }
        } finally {
          active.delete(index);
        }
      },
    })
  );
  const runtime = await started(tools, policy);
  const cancellation = openCancellation();
  let halted: string | null = null;
  let reports = 0;
  let decided = false;
  const settled = await settle(runtime, list.map(toCall), {
    cancellation,
    halted: () => halted,
    on: (mark) => {
      if (mark === "decided") decided = true;
      // What is decided cannot be aborted any more.
      if (decided || reports++ !== interruption.at) return;
      if (interruption.kind === "abort") cancellation.abort("stop");
      if (interruption.kind === "halt") halted = "halted";
    },
  });
  cancellation.close();
  assertEquals(active.size, 0, "nothing is left running");
  return { ...settled, executed };
}

test("every call of any answer is settled once, in order, within the limits", () =>
  fc.assert(
    fc.asyncProperty(
      plans,
      policies,
      interruptions,
      async (list, policy, interruption) => {
        const { outcome, trace, results, executed } = await play(
          list,
          policy,
          interruption,
        );
        const ids = list.map((_, index) => String(index));
        const marked = (mark: string) =>
          trace.filter((entry) => entry.startsWith(mark))
            .map((entry) => entry.slice(mark.length));
        assertEquals(marked("started:"), ids);
        assertEquals(marked("completed:"), ids);
        assertEquals(
          results.map(({ messages }) => messages[0]?.tool_call_id),
          ids,
        );
        for (const id of ids) {
          assert(
            trace.indexOf(`started:${id}`) < trace.indexOf(`completed:${id}`),
          );
        }
        assertEquals(executed, [...executed].sort((a, b) => a - b));
        assertEquals(
          trace.filter((mark) => mark === "decided").length,
          outcome.kind === "terminal" || outcome.kind === "repeated" ? 1 : 0,
        );
        if (outcome.kind === "continue") {
          assert(
            results.every(({ control, cancelled }) =>
              control === "continue" && !cancelled
            ),
          );
        } else {
          const last = Math.max(-1, ...executed);
          const repeated = outcome.kind === "repeated"
            ? Number(outcome.call.id)
            : -1;
          results.forEach(({ cancelled }, index) => {
            if (index > last && index > repeated && executes(list[index]!)) {
              assert(cancelled, "what was not executed says so");
            }
          });
        }
        if (outcome.kind === "terminal") {
          const first = results.find(({ control }) => control !== "continue");
          assert(outcome.result === first, "the first terminal result decides");
        }
      },
    ),
    { numRuns: 400, seed: 20260401 },
  ));

function executes({ behaviour }: Plan): boolean {
  return behaviour !== "unknown tool" && behaviour !== "not json";
}

test("the guard trips at exactly the same call with and without parallel calls", () =>
  fc.assert(
    fc.asyncProperty(plans, async (list) => {
      const harmless = list.map((plan) => ({
        ...plan,
        behaviour: plan.behaviour === "not json"
          ? plan.behaviour
          : "value" as const,
        likeness: plan.likeness % 3,
      }));
      const none = { kind: "none", at: 0 } as const;
      const policy = { maxParallelToolCalls: null, maxRepeatedToolCalls: 2 };
      const [sequential, parallel] = await Promise.all([
        play(harmless, { ...policy, parallelToolCalls: false }, none),
        play(harmless, { ...policy, parallelToolCalls: true }, none),
      ]);
      assertEquals(parallel.outcome, sequential.outcome);
      assertEquals(parallel.contents, sequential.contents);
      assertEquals(parallel.executed, sequential.executed);
    }),
    { numRuns: 200, seed: 20260402 },
  ));
