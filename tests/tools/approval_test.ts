import { AgentCancelledError } from "../../src/base/abort.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import type {
  ToolApprovalFunction,
  ToolApprovalRequest,
  ToolApprover,
} from "../../src/tools/approval.ts";
import { defineTool } from "../../src/tools/define_tool.ts";
import { standaloneContext } from "../../src/tools/execution_context.ts";
import { proceed } from "../../src/tools/outcome.ts";
import {
  ToolPolicyMiddleware,
  type ToolPolicyMiddlewareOptions,
} from "../../src/tools/policy_middleware.ts";
import {
  RuleBasedToolPolicy,
  type ToolPolicyRuleInit,
} from "../../src/tools/policy.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { settle as macrotask } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { call, openCancellation, settle, started } from "./tool_kit.ts";

/** An agent's worth of tools with one, `write`, that needs approval. */
async function approving(
  options: ToolPolicyMiddlewareOptions = {},
  rule: Partial<ToolPolicyRuleInit> = {},
) {
  const written: unknown[] = [];
  const logger = new RecordingLogger();
  const write = defineTool({
    name: "write",
    execute: (args) => void written.push(args),
  });
  const policy = new RuleBasedToolPolicy([
    { ruleId: "approve-write", action: "require_approval", ...rule },
  ]);
  const runtime = await started([write], {
    layers: [new ToolPolicyMiddleware(policy, { logger, ...options })],
  });
  return { runtime, written, logger };
}

async function refusalOf(
  options: ToolPolicyMiddlewareOptions,
  rule: Partial<ToolPolicyRuleInit> = {},
): Promise<Record<string, unknown>> {
  const { runtime, written } = await approving(options, rule);
  const { contents } = await settle(runtime, [call("1", "write")]);
  assertEquals(written, []);
  return JSON.parse(contents["1"]!);
}

test(
  "without an approver nothing is approved",
  { case: "TL-105" },
  async () => {
    assertEquals(
      JSON.stringify(await refusalOf({})),
      '{"status":"rejected","tool":"write","reason":"approval required but no approver is configured","rule_id":"approve-write"}',
    );
  },
);

test("an approver that fails or answers nonsense refuses the call", {
  case: "TL-106",
}, async () => {
  const failing: ToolApprovalFunction = () => {
    throw new Error("hunter2");
  };
  const failed = await refusalOf({ approver: failing });
  assertEquals(failed.reason, "approval failed");
  assertEquals(failed.rule_id, "approve-write");
  assert(!JSON.stringify(failed).includes("hunter2"));

  const nonsense = [
    undefined,
    true,
    { approved: 1 },
    { approved: true, reason: "" },
    { approved: true, reason: 5 },
  ];
  for (const answer of nonsense) {
    const approver = () => answer as never;
    const { reason } = await refusalOf({ approver });
    assertEquals(reason, "approver returned an invalid decision");
  }
});

test(
  "a refusal gives the approver's reason, else the rule's, else a fixed one",
  {
    case: "TL-107",
  },
  async () => {
    const denying = (reason?: string): ToolApprover => ({
      approve: () => ({ approved: false, reason }),
    });
    const reasonOf = async (approval?: string, reason?: string) =>
      (await refusalOf({ approver: denying(approval) }, { reason })).reason;
    assertEquals(await reasonOf(undefined, "needs a human"), "needs a human");
    assertEquals(
      await reasonOf("operator said no", "needs a human"),
      "operator said no",
    );
    assertEquals(await reasonOf(), "approval was denied");
  },
);

test("what is shown for approval cannot be changed and is what the tool gets", {
  case: "TL-108",
}, async () => {
  const requests: ToolApprovalRequest[] = [];
  const { runtime, written } = await approving({
    approver: (request) => {
      requests.push(request);
      const args = request.arguments as { target: { path: string } };
      assertThrows(() => args.target.path = "/private", TypeError);
      assertThrows(() => Object.assign(args, { target: null }), TypeError);
      assertThrows(() => Object.assign(request, { toolName: "x" }), TypeError);
      return Promise.resolve({ approved: true });
    },
  }, { reason: "writes are dangerous" });
  const args = { target: { path: "/w/a" } };
  await settle(runtime, [call("1", "write", args)]);
  assertEquals(requests, [{
    toolName: "write",
    arguments: args,
    toolCallId: "1",
    reason: "writes are dangerous",
    ruleId: "approve-write",
  }]);
  assertEquals(written, [args]);
});

test("a blank call id is none", { case: "TL-110" }, async () => {
  const ids: unknown[] = [];
  const { runtime, written } = await approving({
    approver: ({ toolCallId }) => {
      ids.push(toolCallId);
      return { approved: true };
    },
  });
  await settle(runtime, [call("", "write")]);
  assertEquals(ids, [undefined]);
  assertEquals(written.length, 1);
});

test("an approval that nobody gives in time is refused and withdrawn", async () => {
  const clock = new ManualClock();
  const signals: AbortSignal[] = [];
  const late = deferred<{ approved: boolean }>();
  const { runtime, written, logger } = await approving({
    clock,
    approvalTimeoutMs: 60_000,
    approver: (_request, { signal }) => {
      signals.push(signal);
      return late.promise;
    },
  });
  const settling = settle(runtime, [call("1", "write")]);
  await macrotask();
  clock.advance(59_999);
  await macrotask();
  assertEquals(signals[0]?.aborted, false);
  clock.advance(1);
  const { contents, outcome } = await settling;
  assertEquals(JSON.parse(contents["1"]!), {
    status: "rejected",
    tool: "write",
    reason: "approval timed out",
    rule_id: "approve-write",
  });
  assertEquals(outcome.kind, "terminal");
  assertEquals(signals[0]?.aborted, true);
  assertEquals(logger.warnings.length, 1);
  late.resolve({ approved: true });
  await macrotask();
  assertEquals(written, [], "too late");
});

test("an approval in time stops the clock", async () => {
  const clock = new ManualClock();
  const { runtime, written } = await approving({
    clock,
    approvalTimeoutMs: 10,
    approver: () => ({ approved: true }),
  });
  await settle(runtime, [call("1", "write")]);
  assertEquals(written.length, 1);
  assertEquals(clock.pending, 0);
});

test("an answered request no longer listens to the call", async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  Object.assign(signal, {
    addEventListener(...args: Parameters<typeof addEventListener>) {
      listeners++;
      addEventListener.apply(signal, args);
    },
    removeEventListener(...args: Parameters<typeof removeEventListener>) {
      listeners--;
      removeEventListener.apply(signal, args);
    },
  });
  const listening: number[] = [];
  const middleware = new ToolPolicyMiddleware(
    { evaluate: () => ({ action: "require_approval" }) },
    {
      approver: () => {
        listening.push(listeners);
        return { approved: true };
      },
    },
  );
  await middleware.aroundTool(
    standaloneContext("write", {}, { signal }),
    () => Promise.resolve(proceed("written")),
  );
  assertEquals([...listening, listeners], [1, 0]);
});

test("by default an approval may take forever", async () => {
  const clock = new ManualClock();
  const answer = deferred<{ approved: boolean }>();
  const { runtime, written } = await approving({
    clock,
    approver: () => answer.promise,
  });
  const settling = settle(runtime, [call("1", "write")]);
  await macrotask();
  assertEquals(clock.pending, 0);
  answer.resolve({ approved: true });
  await settling;
  assertEquals(written.length, 1);
});

test("an abort cancels the call and withdraws the request", async () => {
  const reasons: unknown[] = [];
  const asked = deferred();
  const { runtime, written, logger } = await approving({
    approver: (_request, { signal }) => {
      asked.resolve();
      return new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => {
          reasons.push(signal.reason);
          reject(new Error("withdrawn"));
        })
      );
    },
  });
  const cancellation = openCancellation();
  const settling = settle(runtime, [call("1", "write")], { cancellation });
  await asked.promise;
  cancellation.abort("never mind");
  const { outcome, results } = await settling;
  assertEquals(outcome, { kind: "cancelled" });
  assertEquals(results[0]?.error, "never mind");
  assertEquals(written, []);
  assert(reasons[0] instanceof AgentCancelledError);
  assertEquals(logger.warnings, [], "an abort is no failure of the approver");
  cancellation.close();
});

test("an abort does not wait for an approver that ignores it", async () => {
  const asked = deferred();
  const { runtime } = await approving({
    approver: () => {
      asked.resolve();
      return new Promise(() => {});
    },
  });
  const cancellation = openCancellation();
  const settling = settle(runtime, [call("1", "write")], { cancellation });
  await asked.promise;
  cancellation.abort("stop");
  assertEquals((await settling).outcome, { kind: "cancelled" });
  cancellation.close();
});
