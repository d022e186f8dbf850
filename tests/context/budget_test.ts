import {
  CompactionPolicy,
  type CompactionPolicyInput,
  ContextBudget,
} from "../../src/context/budget.ts";
import {
  autoCompactionPolicy,
  requireAutoCompactionParts,
} from "../../src/context/auto_compaction.ts";
import { AgentContextBuilder } from "../../src/context/builder.ts";
import { Conversation } from "../../src/context/conversation.ts";
import { estimateContextUsage } from "../../src/context/estimate.ts";
import { countingIds } from "../../src/testing/ports.ts";
import {
  assertEquals,
  assertStrictEquals,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import {
  assistant,
  calling,
  memberEstimator,
  result,
  user,
} from "./messages.ts";

const estimator = memberEstimator();

function budget(
  contextWindow: number,
  reserveTokens: number,
  keepRecentTokens: number,
) {
  return new ContextBudget({ contextWindow, reserveTokens, keepRecentTokens });
}

function estimateOf(tokens: number) {
  return estimateContextUsage([user("u", tokens)], { estimator });
}

test("a budget is checked from the window down", { case: "SE-C-01" }, () => {
  assertThrows(() => budget(100, 100, 1), RangeError, "reserveTokens");
  assertThrows(() => budget(100, 20, 81), RangeError, "keepRecentTokens");
  assertThrows(() => budget(100, 20, 0), RangeError, "keepRecentTokens");
  assertThrows(() => budget(0, 0, 1), RangeError, "contextWindow");
  assertThrows(() => budget(100, -1, 1), RangeError, "reserveTokens");
  assertThrows(() => budget(100.5, 20, 10), TypeError, "contextWindow");
  assertThrows(() => budget(0, -1, 0), RangeError, "contextWindow");
  assertEquals(budget(100, 99, 1).thresholdTokens, 1);
  assertEquals(budget(100, 20, 80).thresholdTokens, 80);
});

test("the threshold itself is pressure", { case: "SE-C-02" }, () => {
  const policy = new CompactionPolicy({ budget: budget(100, 20, 10) });
  const verdicts = [79, 80, 81].map((tokens) => {
    const decision = policy.evaluate(estimateOf(tokens));
    return [decision.shouldCompact, decision.reason, decision.pressureRatio];
  });
  assertEquals(verdicts, [
    [false, "below_threshold", 0.9875],
    [true, "threshold_reached", 1],
    [true, "threshold_reached", 1.0125],
  ]);

  const disabled = new CompactionPolicy({
    budget: budget(100, 20, 10),
    enabled: false,
  });
  const estimate = estimateOf(80);
  const decision = disabled.evaluate(estimate);
  assertEquals([decision.shouldCompact, decision.reason], [false, "disabled"]);
  assertEquals(decision.thresholdTokens, 80);
  assertStrictEquals(decision.estimate, estimate);
});

test("a disabled policy still says where to cut", () => {
  const policy = new CompactionPolicy({
    budget: budget(100, 20, 10),
    enabled: false,
  });
  const history = [user("u", 10), assistant("a", 10), user("v", 10)];
  assertEquals(policy.prepare(history, { estimator }).firstKeptIndex, 2);
});

test("a turn that would fill half of the threshold is not kept", () => {
  const policy = new CompactionPolicy({ budget: budget(200, 20, 60) });
  const history = [user("u", 60), user("v", 41), user("w", 50)];
  // 91 tokens would stay, one more than half of 180.
  assertEquals(policy.prepare(history, { estimator }).firstKeptIndex, 2);
  const lighter = [user("u", 60), user("v", 40), user("w", 50)];
  assertEquals(policy.prepare(lighter, { estimator }).firstKeptIndex, 1);
});

test("the policy decides about splitting turns, else its caller", () => {
  const history = [
    user("u", 5),
    calling(["a"], 50),
    result("a", 50),
    calling(["b"], 50),
    result("b", 50),
  ];
  const canCompact = (own?: boolean, caller?: boolean) =>
    new CompactionPolicy({
      budget: budget(100, 20, 10),
      ...(own !== undefined && { splitTurns: own }),
    }).prepare(history, {
      estimator,
      ...(caller !== undefined && { splitTurns: caller }),
    }).canCompact;

  assertEquals(
    [canCompact(), canCompact(undefined, true), canCompact(false, true)],
    [false, true, false],
  );
  assertEquals(canCompact(true), true);
});

test("a policy judges a built request by what it takes", () => {
  const policy = new CompactionPolicy({ budget: budget(100, 20, 10) });
  const request = new AgentContextBuilder().build({
    messages: [user("u", 50)],
  });
  const decision = policy.evaluateRequest(request, {
    estimator: memberEstimator(30),
  });
  assertEquals(
    [decision.estimate.totalTokens, decision.shouldCompact],
    [80, true],
  );
});

test("a runtime that a policy opens cuts where the policy says", () => {
  const policy = new CompactionPolicy({ budget: budget(100, 20, 10) });
  const runtime = policy.openRuntime({
    conversation: new Conversation([user("u", 10), user("v", 10)]),
    ids: countingIds(),
    emit: () => {},
    estimator,
  });
  assertEquals(runtime.prepare().firstKeptIndex, 1);
});

test("a policy refuses members of the wrong type", () => {
  const make = (members: object) => () =>
    new CompactionPolicy({
      budget: budget(100, 20, 10),
      ...members,
    } as CompactionPolicyInput);
  assertThrows(make({ budget: {} }), TypeError, "budget");
  assertThrows(make({ enabled: 1 }), TypeError, "enabled");
  assertThrows(make({ barriers: "melt" }), TypeError, "barriers");
  assertThrows(make({ splitTurns: "yes" }), TypeError, "splitTurns");
});

test("automatic compaction is on unless it is told otherwise", () => {
  assertEquals(autoCompactionPolicy(), {
    enabled: true,
    compactOnPressure: true,
    recoverOnOverflow: true,
    maxOverflowRetries: 1,
  });
  assertEquals(autoCompactionPolicy({ enabled: false }).enabled, false);
});

test("automatic compaction needs a policy and a compactor", {
  case: "X-005",
}, () => {
  const automatic = autoCompactionPolicy();
  const policy = new CompactionPolicy({ budget: budget(100, 20, 10) });
  const compactor = { compact: () => ({ content: "c", source: "s" }) };
  const check =
    (parts: Parameters<typeof requireAutoCompactionParts>[1]) => () =>
      requireAutoCompactionParts(automatic, parts);

  const none = { policy: undefined, compactor: undefined };
  assertThrows(check({ ...none, compactor }), RangeError, "CompactionPolicy");
  assertThrows(check({ ...none, policy }), RangeError, "Compactor");
  assertThrows(check(none), RangeError, "CompactionPolicy");
  check({ policy, compactor })();
  requireAutoCompactionParts(autoCompactionPolicy({ enabled: false }), none);
});

test("members of the automatic policy are checked", { case: "X-005" }, () => {
  assertThrows(
    () => autoCompactionPolicy({ maxOverflowRetries: 2 }),
    RangeError,
    "maxOverflowRetries",
  );
  for (
    const name of ["enabled", "compactOnPressure", "recoverOnOverflow"] as const
  ) {
    assertThrows(
      () => autoCompactionPolicy({ [name]: 1 as unknown as boolean }),
      TypeError,
      name,
    );
  }
});
