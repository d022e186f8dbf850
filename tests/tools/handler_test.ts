import type { ToolDefinitionInput } from "../../src/tools/definition.ts";
import { ToolDefinition } from "../../src/tools/definition.ts";
import {
  ToolDefinitionError,
  UnknownToolError,
} from "../../src/tools/errors.ts";
import type { ToolExecutionContext } from "../../src/tools/execution_context.ts";
import { BaseHandler, MethodToolHandler } from "../../src/tools/handler.ts";
import { proceed, type StepOutcome } from "../../src/tools/outcome.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { call, settle, started } from "./tool_kit.ts";

type Arguments = Record<string, unknown>;

class EchoHandler extends MethodToolHandler {
  constructor() {
    super([{ name: "echo" }]);
  }

  do_echo(args: Arguments): Promise<StepOutcome> {
    return Promise.resolve(proceed({ status: "success", text: args.text }));
  }

  do_secret(): never {
    throw new Error("must never be called");
  }
}

test("a name must not be given twice, whatever its form", {
  case: "TL-19",
}, () => {
  assertThrows(
    () =>
      new MethodToolHandler([
        new ToolDefinition({ name: "dup" }),
        { type: "function", function: { name: "dup" } },
      ]),
    ToolDefinitionError,
    'duplicate tool "dup"',
  );
});

test("effects may be set beside the definitions", { case: "TL-20" }, () => {
  const read: ToolDefinitionInput = { name: "read" };
  assertThrows(
    () =>
      new MethodToolHandler([read], {
        toolEffects: { missing: "read_only", also: "read_only" },
      }),
    ToolDefinitionError,
    "also, missing",
  );
  assertThrows(
    () =>
      new MethodToolHandler([read], { toolEffects: { read: "x" as never } }),
    ToolDefinitionError,
    "effect",
  );
  const handler = new MethodToolHandler([read], {
    toolEffects: { read: "read_only" },
  });
  assertEquals(handler.toolDefinitions[0]?.effect, "read_only");
  assertEquals(handler.toolEffect("read"), "read_only");
  assertThrows(() => handler.toolEffect("zz"), UnknownToolError);
});

test("the method is found by the exact or the camel-case name", {
  case: "TL-21",
}, async () => {
  class Camel extends MethodToolHandler {
    constructor() {
      super([{ name: "write_value" }, { name: "my-tool" }]);
    }
    doWriteValue(): StepOutcome {
      return proceed("camel");
    }
    doMyTool(): StepOutcome {
      return proceed("dashed");
    }
  }
  class Both extends Camel {
    readonly do_write_value = (): StepOutcome => proceed("exact");
  }
  assertEquals((await new Camel().dispatch("write_value", {})).data, "camel");
  assertEquals((await new Camel().dispatch("my-tool", {})).data, "dashed");
  assertEquals((await new Both().dispatch("write_value", {})).data, "exact");
});

test(
  "a tool without a method fails the start-up",
  { case: "TL-22" },
  async () => {
    const handler = new MethodToolHandler([{ name: "my-tool" }]);
    const error = await assertRejects(
      () => started([handler]),
      ToolDefinitionError,
    );
    assertEquals(
      error.message,
      'tool "my-tool" has no method (looked for do_my-tool, doMyTool)',
    );
  },
);

test("a method must return an outcome", { case: "TL-23" }, async () => {
  class Careless extends MethodToolHandler {
    constructor() {
      super([{ name: "a" }]);
    }
    do_a(): unknown {
      return { x: 1 };
    }
  }
  const runtime = await started([new Careless()]);
  const { outcome, contents } = await settle(runtime, [call("1", "a")]);
  assertEquals(
    contents["1"],
    '{"status":"error","tool":"a","error":"do_a must return a StepOutcome"}',
  );
  assertEquals(outcome, { kind: "continue" });
});

test("methods of undeclared tools are out of reach", {
  case: "TL-24",
}, async () => {
  await assertRejects(
    () => new EchoHandler().dispatch("secret", {}),
    UnknownToolError,
    'unknown tool "secret" (available: echo)',
  );
});

test("a handler is dispatched to without an agent", {
  case: "TL-25",
}, async () => {
  const outcome = await new EchoHandler().dispatch("echo", { text: "hello" });
  assertEquals(outcome.data, { status: "success", text: "hello" });
});

test("a method gets its own copy of the arguments and the whole context", async () => {
  const seen: unknown[] = [];
  class Looking extends MethodToolHandler {
    constructor() {
      super([{ name: "look" }]);
    }
    async doLook(
      args: Arguments,
      context: ToolExecutionContext,
    ): Promise<StepOutcome> {
      args.changed = true;
      await context.progress.report("looking");
      seen.push(args, context.arguments, context.toolCallId, context.runId);
      return proceed(context.toolDefinition?.name);
    }
  }
  const runtime = await started([new Looking()]);
  const { trace, contents } = await settle(runtime, [
    call("1", "look", { a: 1 }),
  ]);
  assertEquals(seen, [{ a: 1, changed: true }, { a: 1 }, "1", "run-1"]);
  assertEquals(trace[1], "progressed:1:looking");
  assertEquals(contents["1"], "look");
});

test("an overridden effect counts everywhere", { case: "TL-26" }, async () => {
  const release = deferred();
  let active = 0;
  let mostActive = 0;
  class Reader extends BaseHandler {
    readonly tools = [
      { type: "function", function: { name: "read" } } as const,
    ];
    override toolEffect(): "read_only" {
      return "read_only";
    }
    async dispatch(): Promise<StepOutcome> {
      mostActive = Math.max(mostActive, ++active);
      if (active === 2) release.resolve();
      await release.promise;
      active--;
      return proceed(null);
    }
  }
  const runtime = await started([new Reader()], { parallelToolCalls: true });
  assertEquals(runtime.toolDefinitions[0]?.effect, "read_only");
  assertEquals(runtime.toolEffect("read"), "read_only");
  await settle(runtime, [call("1", "read"), call("2", "read", { n: 2 })]);
  assertEquals(mostActive, 2);
});

test("the list of definitions stays the same until it changes", () => {
  class Growing extends BaseHandler {
    readonly names = ["a"];
    get tools(): readonly ToolDefinitionInput[] {
      return this.names.map((name) => ({ name }));
    }
    dispatch(): StepOutcome {
      return proceed(null);
    }
  }
  const handler = new Growing();
  const before = handler.toolDefinitions;
  assertStrictEquals(handler.toolDefinitions, before);
  assertEquals(handler.canHandle("b"), false);
  handler.names.push("b");
  assert(handler.toolDefinitions !== before);
  assertEquals(handler.toolNames, ["a", "b"]);
  assertEquals(handler.canHandle("b"), true);
});

test("changing what tools yields changes no definition", () => {
  const handler = new EchoHandler();
  const [tool] = handler.tools as unknown as [{ function: { name: string } }];
  tool.function.name = "changed";
  assertEquals(handler.toolNames, ["echo"]);
});
