import {
  BaseHandler,
  complete,
  defineTool,
  proceed,
  RuleBasedToolPolicy,
  type StepOutcome,
  ToolPolicyMiddleware,
  ToolSchemaConfigurationError,
} from "../../mod.ts";
import { calls, text } from "../../src/testing/mod.ts";
import {
  ToolSchemaValidationMiddleware,
  type ToolSchemaValidationOptions,
} from "../../src/validation/mod.ts";
import { agentWith } from "../agent/fixtures.ts";
import {
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";

/** A handler whose one tool has a broken schema. */
class BrokenHandler extends BaseHandler {
  readonly tools = [{
    name: "ping",
    parameters: { type: "not-a-json-schema-type" },
  }];
  started = 0;
  stopped = 0;
  called = 0;

  dispatch(): StepOutcome {
    this.called++;
    return proceed("pong");
  }

  override startup(): void {
    this.started++;
  }

  override shutdown(): void {
    this.stopped++;
  }
}

function pinging(options: ToolSchemaValidationOptions) {
  const handler = new BrokenHandler();
  const fixture = agentWith([calls(["ping"]), text("done")], {
    tools: [handler],
    middleware: [new ToolSchemaValidationMiddleware(options)],
  });
  return { ...fixture, handler };
}

test("a broken schema fails the start-up, which takes back what it did", {
  case: "TL-122",
}, async () => {
  const { agent, handler } = pinging({});
  const error = await assertRejects(
    () => agent.startup(),
    ToolSchemaConfigurationError,
    '"ping"',
  );
  assertEquals(error.toolName, "ping");
  assertEquals([handler.started, handler.stopped], [1, 1]);
});

test("without the check the tool with the broken schema works", {
  case: "TL-122",
}, async () => {
  const { agent, handler } = pinging({ enabled: false });
  assertEquals(await agent.runText("go"), "done");
  assertEquals(handler.called, 1);
  await agent.shutdown();
});

test("a tool whose broken schema is skipped works unchecked", {
  case: "TL-122",
}, async () => {
  const warnings: string[] = [];
  const logger = { warn: (message: string) => void warnings.push(message) };
  const { agent, handler } = pinging({ onInvalidSchema: "skip", logger });
  assertEquals(await agent.runText("go"), "done");
  assertEquals(handler.called, 1);
  assertEquals(warnings.length, 1);
  await agent.shutdown();
});

test("invalid arguments use up no limit of the policy behind the check", {
  case: "TL-133",
}, async () => {
  const seen: unknown[] = [];
  const count = defineTool({
    name: "count",
    effect: "read_only",
    parameters: {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
    },
    execute: (args) => {
      seen.push(args);
      return complete("counted");
    },
  });
  const policy = new RuleBasedToolPolicy([
    { ruleId: "once", action: "allow", maxCallsPerRun: 1 },
  ]);
  const { agent } = agentWith([
    calls([
      { name: "count", arguments: { n: "many" } },
      { name: "count", arguments: { n: 1 } },
    ]),
  ], {
    tools: [count],
    policy: { parallelToolCalls: true },
    middleware: [
      new ToolSchemaValidationMiddleware(),
      new ToolPolicyMiddleware(policy),
    ],
  });
  const result = await agent.run("go");
  assertEquals(result.status, "completed");
  assertEquals(seen, [{ n: 1 }]);
  const [refused] = agent.messages.filter(({ role }) => role === "tool");
  assertStringIncludes(String(refused?.content), "invalid_tool_arguments");
  await agent.shutdown();
});
