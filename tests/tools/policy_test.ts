import { Agent, agentTool } from "../../mod.ts";
import { calls, ScriptedModel, text } from "../../src/testing/mod.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { defineTool } from "../../src/tools/define_tool.ts";
import { ToolDefinition } from "../../src/tools/definition.ts";
import { standaloneContext } from "../../src/tools/execution_context.ts";
import type { ToolCallContext } from "../../src/tools/middleware.ts";
import {
  RuleBasedToolPolicy,
  type ToolExecutionPolicy,
  type ToolPolicyDecision,
  type ToolPolicyRuleInit,
} from "../../src/tools/policy.ts";
import {
  ToolPolicyMiddleware,
  type ToolPolicyMiddlewareOptions,
} from "../../src/tools/policy_middleware.ts";
import { reject } from "../../src/tools/outcome.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { call, openCancellation, settle, started } from "./tool_kit.ts";

function context(
  toolName: string,
  args: Record<string, unknown> = {},
  effect?: "read_only" | "side_effecting",
): ToolCallContext {
  const toolDefinition = effect &&
    new ToolDefinition({ name: toolName, effect });
  return standaloneContext(toolName, args, { toolDefinition });
}

/** Sends one call through a policy. @returns What the model reads and whether the tool ran. */
async function judged(
  policy: ToolExecutionPolicy,
  name: string,
  args: Record<string, unknown> = {},
  options: ToolPolicyMiddlewareOptions = {},
) {
  let executed = 0;
  const tools = ["read", "write"].map((name) =>
    defineTool({
      name,
      effect: name === "read" ? "read_only" : "side_effecting",
      execute: () => ++executed,
    })
  );
  const logger = new RecordingLogger();
  const layers = [new ToolPolicyMiddleware(policy, { logger, ...options })];
  const runtime = await started(tools, { layers });
  const { contents, outcome } = await settle(runtime, [call("1", name, args)]);
  return {
    content: JSON.parse(contents["1"]!),
    outcome,
    executed: executed > 0,
    warnings: logger.warnings,
  };
}

function deciding(decision: unknown): ToolExecutionPolicy {
  return { evaluate: () => decision as ToolPolicyDecision };
}

test("without rules everything is denied and the run is rejected", {
  case: "TL-97",
}, async () => {
  const { content, outcome, executed } = await judged(
    new RuleBasedToolPolicy([]),
    "write",
  );
  assertEquals(
    JSON.stringify(content),
    '{"status":"rejected","tool":"write","reason":"denied by tool policy"}',
  );
  assert(outcome.kind === "terminal");
  assertEquals(outcome.result.control, "reject");
  assert(!executed);
});

test("the first rule that matches decides", { case: "TL-98" }, async () => {
  const policy = new RuleBasedToolPolicy([
    {
      ruleId: "deny-private",
      action: "deny",
      toolNames: ["read"],
      when: ({ arguments: { path } }) => String(path).startsWith("/private"),
      reason: "private paths are forbidden",
    },
    { ruleId: "allow-read", action: "allow", toolNames: ["read"] },
  ]);
  const denied = await judged(policy, "read", { path: "/private/x" });
  assertEquals(
    JSON.stringify(denied.content),
    '{"status":"rejected","tool":"read","reason":"private paths are forbidden","rule_id":"deny-private"}',
  );
  assert((await judged(policy, "read", { path: "/w/a" })).executed);
});

test("rules select by effect, and what is unknown has side effects", {
  case: "TL-99",
}, async () => {
  const policy = new RuleBasedToolPolicy([
    {
      ruleId: "approve-writes",
      action: "require_approval",
      effects: ["side_effecting"],
    },
    { ruleId: "allow-reads", action: "allow", effects: ["read_only"] },
  ]);
  const decide = async (...args: Parameters<typeof context>) =>
    (await policy.evaluate(context(...args))).ruleId;
  assertEquals(await decide("write", {}, "side_effecting"), "approve-writes");
  assertEquals(await decide("read", {}, "read_only"), "allow-reads");
  assertEquals(await decide("unknown"), "approve-writes");
});

test("a predicate must answer with true or false", {
  case: "TL-100",
}, async () => {
  const ruled = (when: ToolPolicyRuleInit["when"]) =>
    new RuleBasedToolPolicy([
      { ruleId: "maybe", action: "allow", toolNames: ["read"], when },
    ]);
  assert((await judged(ruled(() => Promise.resolve(true)), "read")).executed);
  for (const answer of [1, "yes", null]) {
    const { content, executed, warnings } = await judged(
      ruled(() => answer as unknown as boolean),
      "read",
    );
    assertEquals(content, {
      status: "rejected",
      tool: "read",
      reason: "policy evaluation failed",
    });
    assert(!executed);
    assertEquals(warnings.length, 1);
  }
  let asked = 0;
  const counting = ruled(() => ++asked > 0);
  await counting.evaluate(context("write"));
  assertEquals(asked, 0);
});

test("a limit counts concurrent calls exactly and a new run resets it", {
  case: "TL-101",
}, async () => {
  const policy = new RuleBasedToolPolicy([
    {
      ruleId: "read-budget",
      action: "allow",
      when: () => Promise.resolve(true),
      maxCallsPerRun: 3,
    },
    { ruleId: "never", action: "allow" },
  ]);
  const decisions = await Promise.all(
    Array.from({ length: 20 }, () => policy.evaluate(context("read"))),
  );
  const denied = decisions.filter(({ action }) => action === "deny");
  assertEquals(decisions.length - denied.length, 3);
  assertEquals(denied[0], {
    action: "deny",
    ruleId: "read-budget",
    reason: 'call limit reached for rule "read-budget"',
  });
  policy.onTaskStart();
  assertEquals((await policy.evaluate(context("read"))).action, "allow");
});

/** A policy that lets every run pay once, and tools that pay. */
function payingOnce() {
  const policy = new RuleBasedToolPolicy([
    { ruleId: "once", action: "allow", toolNames: ["pay"], maxCallsPerRun: 1 },
    { ruleId: "rest", action: "allow" },
  ]);
  const middleware = [
    new ToolPolicyMiddleware(policy, { logger: new RecordingLogger() }),
  ];
  let paid = 0;
  const pay = defineTool({ name: "pay", execute: () => ++paid });
  return { middleware, pay, paidCount: () => paid };
}

test("a sub-agent with the same policy does not give its caller new calls", async () => {
  const { middleware, pay, paidCount } = payingOnce();
  const inner = new Agent({
    agentId: "inner",
    model: new ScriptedModel([calls(["pay"]), text("paid")]),
    middleware,
    tools: [pay],
  });
  const outer = new Agent({
    agentId: "outer",
    model: new ScriptedModel([
      calls(["pay"]),
      calls([{ name: "inner", arguments: { task: "Pay" } }]),
      calls([{ name: "pay", arguments: { again: true } }]),
      text("never"),
    ]),
    middleware,
    tools: [pay, agentTool(inner)],
  });
  const result = await outer.run("Pay");
  assertEquals(result.status, "rejected");
  assertEquals(paidCount(), 2);
});

test("agents side by side have a limit each", async () => {
  const { middleware, pay, paidCount } = payingOnce();
  const runs = ["left", "right"].map((agentId) =>
    new Agent({
      agentId,
      model: new ScriptedModel([calls(["pay"]), text("done")]),
      middleware,
      tools: [pay],
    }).run("Pay")
  );
  const results = await Promise.all(runs);
  assertEquals(results.map(({ output }) => output), ["done", "done"]);
  assertEquals(paidCount(), 2);
});

test("a direct dispatch counts with the run before it, until the next one starts", async () => {
  const { middleware, pay, paidCount } = payingOnce();
  const agent = new Agent({
    agentId: "payer",
    model: new ScriptedModel([calls(["pay"]), text("done"), text("done")]),
    middleware,
    tools: [pay],
  });
  const dispatched = async () => (await agent.dispatch("pay", {})).control;
  assertEquals(await dispatched(), "continue");
  assertEquals(await dispatched(), "reject");
  await agent.run("Pay");
  assertEquals(await dispatched(), "reject");
  await agent.run("Rest");
  assertEquals(await dispatched(), "continue");
  assertEquals(await dispatched(), "reject");
  assertEquals(paidCount(), 3);
});

test("a failing tool behind a policy fails as ever", {
  case: "TL-111",
}, async () => {
  const failing = defineTool({
    name: "write",
    execute: () => {
      throw new Error("x");
    },
  });
  const runtime = await started([failing], {
    layers: [new ToolPolicyMiddleware(deciding({ action: "allow" }))],
  });
  const { results } = await settle(runtime, [call("1", "write")]);
  assertEquals(results[0]?.error, "x");
  assertEquals(results[0]?.control, "continue");
});

test("what is no decision refuses the call", { case: "TL-112" }, async () => {
  const wrong = [
    { action: "maybe" },
    null,
    undefined,
    { action: "allow", reason: " " },
    { action: "allow", ruleId: 5 },
    "allow",
  ];
  for (const decision of wrong) {
    const { content, executed, warnings } = await judged(
      deciding(decision),
      "write",
    );
    assertEquals(content.reason, "policy returned an invalid decision");
    assert(!executed);
    assertEquals(warnings.length, 1);
  }
});

test("a policy that fails refuses the call and keeps its text to the log", async () => {
  const policy: ToolExecutionPolicy = {
    evaluate() {
      throw new Error("hunter2");
    },
  };
  const { content, executed, warnings } = await judged(policy, "write");
  assertEquals(content, {
    status: "rejected",
    tool: "write",
    reason: "policy evaluation failed",
  });
  assert(!executed);
  assertEquals(warnings[0]?.details, { toolName: "write", error: "hunter2" });
});

test("a policy that fails under an abort does not decide", async () => {
  const cancellation = openCancellation();
  const policy: ToolExecutionPolicy = {
    evaluate() {
      cancellation.abort("stop");
      throw new Error("interrupted");
    },
  };
  const logger = new RecordingLogger();
  const runtime = await started([defineTool({ name: "t", execute: () => 1 })], {
    layers: [new ToolPolicyMiddleware(policy, { logger })],
  });
  const { outcome, results } = await settle(runtime, [call("1", "t")], {
    cancellation,
  });
  assertEquals(outcome, { kind: "cancelled" });
  assertEquals(results[0]?.error, "stop");
  assertEquals(logger.warnings, []);
  cancellation.close();
});

test("rules that contradict themselves are refused", {
  case: "TL-113",
}, () => {
  const allow = { ruleId: "a", action: "allow" } as const;
  const wrong: [typeof TypeError | typeof RangeError, unknown[]][] = [
    [RangeError, [allow, allow]],
    [RangeError, [{ ruleId: "a", action: "deny", maxCallsPerRun: 1 }]],
    [RangeError, [{ ...allow, toolNames: [] }]],
    [RangeError, [{ ...allow, toolNames: [" "] }]],
    [TypeError, [{ ...allow, toolNames: "read" }]],
    [RangeError, [{ ...allow, effects: [] }]],
    [TypeError, [{ ...allow, effects: ["none"] }]],
    [RangeError, [{ ...allow, maxCallsPerRun: 0 }]],
    [TypeError, [{ ...allow, maxCallsPerRun: true }]],
    [TypeError, [{ ...allow, maxCallsPerRun: 1.5 }]],
    [TypeError, [{ ...allow, when: true }]],
    [TypeError, [{ ...allow, action: "maybe" }]],
    [RangeError, [{ ...allow, ruleId: " " }]],
    [RangeError, [{ ...allow, reason: "" }]],
  ];
  for (const [type, rules] of wrong) {
    assertThrows(
      () => new RuleBasedToolPolicy(rules as ToolPolicyRuleInit[]),
      type,
    );
  }
  assertThrows(
    () => new RuleBasedToolPolicy([], { defaultAction: "maybe" as never }),
    TypeError,
  );
  assertThrows(
    () => new RuleBasedToolPolicy(undefined as never),
    TypeError,
    "rules must be a list of rules",
  );
});

test("rules are copied and frozen", () => {
  const toolNames = new Set(["read"]);
  const policy = new RuleBasedToolPolicy([
    { ruleId: "a", action: "allow", toolNames },
  ], { defaultAction: "deny", defaultReason: "nothing else" });
  toolNames.add("write");
  assertEquals(policy.rules[0]?.toolNames, ["read"]);
  assert(Object.isFrozen(policy.rules) && Object.isFrozen(policy.rules[0]));
});

test("the default decides when no rule matches, without a rule id", async () => {
  const policy = new RuleBasedToolPolicy([], {
    defaultAction: "deny",
    defaultReason: "closed today",
  });
  assertEquals((await judged(policy, "write")).content, {
    status: "rejected",
    tool: "write",
    reason: "closed today",
  });
  const open = new RuleBasedToolPolicy([], { defaultAction: "allow" });
  assert((await judged(open, "write")).executed);
});

test("the middleware passes its life on to the policy", async () => {
  const marks: string[] = [];
  const policy: ToolExecutionPolicy = {
    startup: () => void marks.push("startup"),
    onTaskStart: () => void marks.push("task"),
    shutdown: () => void marks.push("shutdown"),
    evaluate: () => ({ action: "allow" }),
  };
  const runtime = await started([defineTool({ name: "t", execute: () => 1 })], {
    layers: [new ToolPolicyMiddleware(policy)],
  });
  await runtime.shutdown();
  assertEquals(marks, ["startup", "task", "shutdown"]);
});

test("a wrong policy, approver or option is refused", () => {
  const policy = deciding({ action: "allow" });
  assertThrows(() => new ToolPolicyMiddleware(undefined as never), TypeError);
  assertThrows(() => new ToolPolicyMiddleware({} as never), TypeError);
  assertThrows(
    () => new ToolPolicyMiddleware(policy, { approver: {} as never }),
    TypeError,
  );
  assertThrows(
    () => new ToolPolicyMiddleware(policy, { approvalTimeoutMs: 0 }),
    RangeError,
  );
  assertThrows(
    () => new ToolPolicyMiddleware(policy, { enabled: 1 as never }),
    TypeError,
  );
});

test("the policy sees a copy and the tool gets what the policy saw", async () => {
  const nested = { path: "/w/a" };
  const seen: unknown[] = [];
  const policy: ToolExecutionPolicy = {
    evaluate({ arguments: args }) {
      assertThrows(
        () => Object.assign(args.target as object, { path: "/private" }),
        TypeError,
      );
      nested.path = "/private";
      return { action: "allow" };
    },
  };
  const middleware = new ToolPolicyMiddleware(policy);
  await middleware.aroundTool(
    context("write", { target: nested }),
    (changed) => {
      seen.push(changed!.arguments);
      Object.assign(changed!.arguments.target as object, { mine: true });
      return Promise.resolve(reject(null));
    },
  );
  assertEquals(seen, [{ target: { path: "/w/a", mine: true } }]);
});

test("arguments that cannot be copied reach neither policy nor tool", async () => {
  const middleware = new ToolPolicyMiddleware({
    evaluate: () => ({ action: "allow" }),
  });
  await assertRejects(() =>
    middleware.aroundTool(
      context("write", { callback: () => {} }),
      () => Promise.resolve(reject(null)),
    )
  );
});
