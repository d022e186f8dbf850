import fc from "fast-check";

/** What a tool does when it is called. */
export type ToolPlan =
  | "value"
  | "slow"
  | "progress"
  | "throw"
  | "throw a cancellation"
  | "complete"
  | "reject"
  | "cancel"
  | "hang"
  | "ignore the abort";

/** What the model does when it is asked. */
export type AnswerPlan =
  | {
    readonly kind:
      | "text"
      | "empty"
      | "fail"
      | "overflow"
      | "hang"
      | "ignore the abort";
  }
  | {
    readonly kind: "stream";
    readonly pieces: number;
    readonly end: "text" | "fail" | "hang";
  }
  | {
    readonly kind: "calls";
    readonly tools: readonly {
      readonly name: "read" | "work";
      readonly plan: ToolPlan;
    }[];
  };

/** What a hook or a compactor does when it is asked. */
export type HelperPlan = "pass" | "act" | "throw" | "hang" | "ignore the abort";

/** What the caller does, and how long it waits afterwards. */
export interface Step {
  readonly action: Action;
  readonly pause:
    | { readonly kind: "ticks"; readonly count: number }
    | { readonly kind: "advance"; readonly ms: number };
}

/** What the caller of an agent can do. */
export type Action =
  | { readonly kind: "run" | "continue" | "compact"; readonly signal: boolean }
  | { readonly kind: "stream"; readonly leaveAfter: number | null }
  | { readonly kind: "dispatch"; readonly plan: ToolPlan }
  | {
    readonly kind:
      | "steer"
      | "followUp"
      | "abort"
      | "abort a caller"
      | "reset"
      | "startup";
  }
  | { readonly kind: "shutdown"; readonly abort: boolean };

/** One random sequence with everything that it depends on. */
export interface Plan {
  readonly steps: readonly Step[];
  /** Taken one after the other, round and round. */
  readonly answers: readonly AnswerPlan[];
  readonly hooks: readonly HelperPlan[];
  readonly compactions: readonly HelperPlan[];
  readonly compaction: "none" | "watched" | "automatic";
  readonly parallelToolCalls: boolean;
  readonly maxSteps: number;
  readonly followUpFailurePolicy: "discard" | "continue";
  readonly layered: boolean;
  /** Number of the start-up of the model that fails; null for none. */
  readonly startupFailingAt: number | null;
  /** Microtasks that a sink takes for each event. */
  readonly lagTicks: number;
  /** Numbers of the events at which a sink fails or hangs; null for never. */
  readonly failingAt: number | null;
  readonly hangingAt: number | null;
  readonly requiredFailingAt: number | null;
}

const toolPlans: fc.Arbitrary<ToolPlan> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("value", "slow", "progress") },
  {
    weight: 5,
    arbitrary: fc.constantFrom(
      "throw",
      "throw a cancellation",
      "complete",
      "reject",
      "cancel",
      "hang",
      "ignore the abort",
    ),
  },
);

const answers: fc.Arbitrary<AnswerPlan> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "text" as const,
        "text" as const,
        "text" as const,
        "empty" as const,
        "fail" as const,
        "overflow" as const,
        "hang" as const,
        "ignore the abort" as const,
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("stream" as const),
      pieces: fc.integer({ min: 1, max: 3 }),
      end: fc.constantFrom("text" as const, "fail" as const, "hang" as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("calls" as const),
      tools: fc.array(
        fc.record({
          name: fc.constantFrom("read" as const, "work" as const),
          plan: toolPlans,
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  },
);

const helpers: fc.Arbitrary<HelperPlan> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<HelperPlan>("pass") },
  {
    weight: 2,
    arbitrary: fc.constantFrom<HelperPlan[]>(
      "act",
      "throw",
      "hang",
      "ignore the abort",
    ),
  },
);

const signal = fc.boolean();

const actions: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("run" as const), signal }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("stream" as const),
      leaveAfter: fc.option(fc.nat(6)),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "steer" as const,
        "steer" as const,
        "followUp" as const,
        "followUp" as const,
        "abort" as const,
        "abort" as const,
        "abort a caller" as const,
        "reset" as const,
        "startup" as const,
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom("continue" as const, "compact" as const),
      signal,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("dispatch" as const),
      plan: toolPlans,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("shutdown" as const),
      abort: fc.boolean(),
    }),
  },
);

const pauses: fc.Arbitrary<Step["pause"]> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("ticks" as const),
      count: fc.nat(30),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("advance" as const),
      ms: fc.constantFrom(0, 10, 30),
    }),
  },
);

const eventNumber = fc.option(fc.integer({ min: 1, max: 30 }), { freq: 2 });

/** Random sequences. */
export const plans: fc.Arbitrary<Plan> = fc.record({
  steps: fc.array(fc.record({ action: actions, pause: pauses }), {
    minLength: 1,
    maxLength: 14,
  }),
  answers: fc.array(answers, { minLength: 1, maxLength: 6 }),
  hooks: fc.array(helpers, { minLength: 1, maxLength: 4 }),
  compactions: fc.array(helpers, { minLength: 1, maxLength: 3 }),
  compaction: fc.constantFrom("none", "watched", "automatic"),
  parallelToolCalls: fc.boolean(),
  maxSteps: fc.integer({ min: 1, max: 4 }),
  followUpFailurePolicy: fc.constantFrom("discard", "continue"),
  layered: fc.boolean(),
  startupFailingAt: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 2 }),
  lagTicks: fc.nat(3),
  failingAt: eventNumber,
  hangingAt: eventNumber,
  requiredFailingAt: eventNumber,
});
