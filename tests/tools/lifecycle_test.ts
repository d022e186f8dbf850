import { AgentConfigurationError } from "../../src/base/errors.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { defineTool } from "../../src/tools/define_tool.ts";
import { ToolDefinition } from "../../src/tools/definition.ts";
import {
  DuplicateToolError,
  ToolDefinitionError,
  ToolShutdownError,
  UnknownToolError,
} from "../../src/tools/errors.ts";
import { standaloneContext } from "../../src/tools/execution_context.ts";
import { BaseHandler, type ToolHandler } from "../../src/tools/handler.ts";
import type { ToolLayer } from "../../src/tools/middleware.ts";
import { proceed, type StepOutcome } from "../../src/tools/outcome.ts";
import type { ToolRuntime } from "../../src/tools/runtime.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import {
  call,
  openCancellation,
  runtimeOf,
  settle,
  started,
} from "./tool_kit.ts";

/** Writes down what happens to its parts; failures by mark, for example `"H2.down"`. */
class Diary {
  readonly marks: string[] = [];
  readonly failures = new Map<string, Error>();

  note(mark: string): void {
    this.marks.push(mark);
    const failure = this.failures.get(mark);
    if (failure !== undefined) throw failure;
  }

  fail(mark: string): Error {
    const error = new Error(`${mark} failed`);
    this.failures.set(mark, error);
    return error;
  }

  handler(name: string, ...tools: string[]): ToolHandler {
    const definitions = tools.map((tool) => new ToolDefinition({ name: tool }));
    return {
      toolDefinitions: definitions,
      toolNames: tools,
      execute: ({ toolName }) => proceed(`${name} ${toolName}`),
      startup: () => this.note(`${name}.up`),
      shutdown: () => this.note(`${name}.down`),
      onTaskStart: () => this.note(`${name}.task`),
    };
  }

  layer(name: string, enabled = true): ToolLayer {
    return {
      name,
      enabled,
      configureTools: (tools) =>
        this.note(`${name}.cfg(${tools.map((tool) => tool.name).join()})`),
      startup: () => this.note(`${name}.up`),
      shutdown: () => this.note(`${name}.down`),
      onTaskStart: () => this.note(`${name}.task`),
    };
  }

  take(): string {
    return this.marks.splice(0).join(" ");
  }
}

class EchoHandler extends BaseHandler {
  readonly tools = [{ name: "echo" }];
  dispatch(): StepOutcome {
    return proceed("echo");
  }
}

function dispatch(runtime: ToolRuntime, toolName: string) {
  const { agent, state, scope } = standaloneContext("", {});
  const cancellation = openCancellation();
  return runtime.dispatch({
    toolName,
    arguments: {},
    cancellation,
    agent,
    state,
    scope,
  });
}

test("parts start in order and are shut down in reverse", {
  case: "TL-35",
}, async () => {
  const diary = new Diary();
  const runtime = runtimeOf(
    [diary.handler("H1", "a"), diary.handler("H2", "b")],
    { layers: [diary.layer("M1"), diary.layer("M2")] },
  );
  assertEquals(runtime.started, false);
  await runtime.startup();
  assertEquals(runtime.started, true);
  assertEquals(
    diary.take(),
    "H1.up H2.up M1.cfg(a,b) M2.cfg(a,b) M1.up M2.up",
  );
  await runtime.onTaskStart();
  assertEquals(diary.take(), "H1.task H2.task M1.task M2.task");
  await runtime.shutdown();
  assertEquals(diary.take(), "M2.down M1.down H2.down H1.down");
  assertEquals(runtime.started, false);
});

test("a failing start-up takes back what was started", {
  case: "TL-36",
}, async () => {
  const diary = new Diary();
  const logger = new RecordingLogger();
  const runtime = runtimeOf(
    [diary.handler("H1", "a"), diary.handler("H2", "b")],
    { layers: [diary.layer("M1"), diary.layer("M2")], logger },
  );
  const failure = diary.fail("M2.up");
  diary.fail("H2.down");
  assertStrictEquals(await assertRejects(() => runtime.startup()), failure);
  assertEquals(
    diary.take(),
    "H1.up H2.up M1.cfg(a,b) M2.cfg(a,b) M1.up M2.up M1.down H2.down H1.down",
  );
  assertEquals(
    logger.warnings.map(({ details }) => details?.error),
    ["H2.down failed"],
  );
  assertEquals(runtime.started, false);

  diary.failures.clear();
  await runtime.startup();
  assert(diary.take().startsWith("H1.up H2.up M1.cfg"));
});

test("a middleware that refuses the tools takes the handlers down with it", {
  case: "TL-37",
}, async () => {
  const diary = new Diary();
  diary.fail("M1.cfg(a)");
  const runtime = runtimeOf([diary.handler("H1", "a")], {
    layers: [diary.layer("M1")],
  });
  await assertRejects(() => runtime.startup(), Error, "M1.cfg(a) failed");
  assertEquals(diary.take(), "H1.up M1.cfg(a) H1.down");
});

test(
  "two handlers must not offer the same tool",
  { case: "TL-38" },
  async () => {
    const runtime = runtimeOf([new EchoHandler(), new EchoHandler()]);
    const error = await assertRejects(
      () => runtime.startup(),
      DuplicateToolError,
    );
    // A bundler may rename the class.
    const owner = EchoHandler.name;
    assertEquals(error.message, `duplicate tool "echo" (${owner}, ${owner})`);
    assertEquals(error.toolName, "echo");
    assertEquals(error.code, "duplicate_tool");
    assert(error instanceof ToolDefinitionError);
  },
);

test("every part is shut down, whatever the others do", {
  case: "TL-41",
}, async () => {
  const diary = new Diary();
  const runtime = runtimeOf(
    [diary.handler("H1"), diary.handler("H2")],
    { layers: [diary.layer("M1")] },
  );
  await runtime.startup();
  diary.take();
  const errors = [diary.fail("H2.down"), diary.fail("H1.down")];
  const error = await assertRejects(
    () => runtime.shutdown(),
    ToolShutdownError,
  );
  assertEquals(error.message, "failed to shut down 2 tool resource(s)");
  assertEquals<unknown>(error.errors, errors);
  assertEquals(diary.take(), "M1.down H2.down H1.down");
  await runtime.shutdown();
  assertEquals(diary.take(), "");
});

test("starting twice is starting once; starting again reads everything again", async () => {
  const diary = new Diary();
  const off = { ...diary.layer("M1"), enabled: false };
  const runtime = runtimeOf([diary.handler("H1", "a")], { layers: [off] });
  await runtime.startup();
  await runtime.startup();
  assertEquals(diary.take(), "H1.up");
  assertEquals(runtime.activeLayers, []);
  await runtime.shutdown();
  off.enabled = true;
  await runtime.startup();
  assertEquals(runtime.activeLayers, [off]);
  assertEquals(diary.take(), "H1.down H1.up M1.cfg(a) M1.up");
  off.enabled = false;
  await runtime.shutdown();
  assertEquals(diary.take(), "M1.down H1.down");
});

test("before start-up the tools are what the handlers offer now", async () => {
  const tools = ["a", "b"].map((name) =>
    defineTool({ name, effect: "read_only", execute: () => name })
  );
  const runtime = runtimeOf(tools);
  assertEquals(runtime.toolDefinitions.map(({ name }) => name), ["a", "b"]);
  assertEquals(runtime.toolEffect("a"), "read_only");
  assertEquals(runtime.toolEffect("zz"), "side_effecting");
  await runtime.startup();
  assertEquals(runtime.tools.map((tool) => tool.function.name), ["a", "b"]);
  assertStrictEquals(runtime.tools, runtime.tools);
  assert(Object.isFrozen(runtime.tools[0]?.function));
});

test(
  "a dispatch executes, and an unknown tool is refused with the names that exist",
  {
    case: "TL-43",
  },
  async () => {
    const diary = new Diary();
    const runtime = await started([diary.handler("H1", "echo", "add")]);
    assertEquals(await dispatch(runtime, "echo"), proceed("H1 echo"));
    const error = await assertRejects(
      () => dispatch(runtime, "missing"),
      UnknownToolError,
    );
    assertEquals(
      error.message,
      'unknown tool "missing" (available: add, echo)',
    );
    assertEquals(error.available, ["add", "echo"]);
    assertEquals(error.toolName, "missing");
  },
);

test("a runtime that is not started says so", async () => {
  await assertRejects(
    () => dispatch(runtimeOf([]), "a"),
    AgentConfigurationError,
    "not started",
  );
});

test("start-up names the tools once, calls are not logged", {
  case: "TL-173",
}, async () => {
  const lines: [string, unknown][] = [];
  const logger = {
    warn: (message: string) => void lines.push([message, null]),
    info: (message: string, details?: unknown) =>
      void lines.push([message, details]),
  };
  const diary = new Diary();
  const runtime = await started([diary.handler("H1", "echo", "done")], {
    logger,
  });
  await settle(runtime, [call("1", "echo"), call("2", "done")]);
  assertEquals(lines, [
    ["Tools are ready", { handlerCount: 1, tools: "done, echo" }],
  ]);
  lines.length = 0;
  await started([], { logger });
  assertEquals(lines, []);
});

/** A handler whose list is changed by the test. */
function changing(
  ...names: string[]
): ToolHandler & { offer(...names: string[]): void } {
  let definitions: readonly ToolDefinition[] = [];
  const handler = {
    offer(...offered: string[]) {
      definitions = offered.map((name) => new ToolDefinition({ name }));
    },
    get toolDefinitions() {
      return definitions;
    },
    get toolNames() {
      return definitions.map(({ name }) => name);
    },
    execute: ({ toolName }: { toolName: string }) => proceed(toolName),
  };
  handler.offer(...names);
  return handler;
}

test("a changed list takes effect at the next turn", {
  case: "X-064",
}, async () => {
  const diary = new Diary();
  const handler = changing("grow", "echo");
  const runtime = await started([handler], { layers: [diary.layer("M1")] });
  diary.take();
  runtime.beginTurn();
  const first = await settle(runtime, [
    call("1", "grow"),
    call("2", "echo"),
    call("3", "new"),
  ], {
    on: (mark) => {
      if (mark === "started:1") handler.offer("grow", "new");
    },
  });
  assertEquals(first.contents["2"], "echo");
  assertEquals(
    first.results[2]?.error,
    'unknown tool "new" (available: echo, grow)',
  );
  assertEquals(runtime.toolDefinitions.map(({ name }) => name), [
    "grow",
    "echo",
  ]);

  runtime.beginTurn();
  assertEquals(diary.take(), "M1.cfg(grow,new)");
  assertEquals(runtime.tools.map((tool) => tool.function.name), [
    "grow",
    "new",
  ]);
  const second = await settle(runtime, [call("1", "echo"), call("2", "new")]);
  assertEquals(
    second.results[0]?.error,
    'unknown tool "echo" (available: grow, new)',
  );
  assertEquals(second.contents["2"], "new");

  runtime.beginTurn();
  assertEquals(diary.take(), "", "nothing changed, nobody is told");
});

test("a list that cannot be used leaves the last one in force", async () => {
  const diary = new Diary();
  const logger = new RecordingLogger();
  const handler = changing("a");
  const runtime = await started([handler], {
    layers: [diary.layer("M1"), diary.layer("M2")],
    logger,
  });
  diary.take();
  handler.offer("b");
  diary.fail("M2.cfg(b)");
  runtime.beginTurn();
  assertEquals(diary.take(), "M1.cfg(b) M2.cfg(b) M1.cfg(a) M2.cfg(a)");
  assertEquals(runtime.toolDefinitions.map(({ name }) => name), ["a"]);
  handler.offer("c", "c");
  runtime.beginTurn();
  assertEquals(runtime.toolDefinitions.map(({ name }) => name), ["a"]);
  assertEquals(
    logger.warnings.map(({ details }) => details?.error),
    ["M2.cfg(b) failed", 'duplicate tool "c" (Object, Object)'],
  );
  handler.offer("d");
  runtime.beginTurn();
  assertEquals(runtime.toolDefinitions.map(({ name }) => name), ["d"]);
});

test("tools and middleware of one run are started, used and taken back", async () => {
  const diary = new Diary();
  const runtime = await started([diary.handler("H1", "a")], {
    layers: [diary.layer("M1")],
  });
  const active = runtime.activeLayers;
  diary.take();
  await runtime.attach({
    handlers: [diary.handler("H2", "b")],
    layers: [diary.layer("M2"), diary.layer("off", false)],
  });
  assertEquals(
    diary.take(),
    "H2.up M1.cfg(a,b) M2.cfg(a,b) M2.up H2.task M2.task",
  );
  assertEquals(runtime.toolDefinitions.map(({ name }) => name), ["a", "b"]);
  assertEquals(await dispatch(runtime, "b"), proceed("H2 b"));
  assertEquals(runtime.activeLayers, active);

  assertEquals(await runtime.detach(), []);
  assertEquals(diary.take(), "M2.down H2.down M1.cfg(a)");
  assertEquals(runtime.toolDefinitions.map(({ name }) => name), ["a"]);
  await assertRejects(() => dispatch(runtime, "b"), UnknownToolError);
});

test("middleware of one run stands inside the agent's own", async () => {
  const order: string[] = [];
  const around = (name: string): ToolLayer => ({
    aroundTool(_context, next) {
      order.push(name);
      return next();
    },
  });
  const runtime = await started([new EchoHandler()], {
    layers: [around("own")],
  });
  await runtime.attach({ handlers: [], layers: [around("per run")] });
  await dispatch(runtime, "echo");
  assertEquals(order, ["own", "per run"]);
});

test("a tool of one run must not hide one of the agent", async () => {
  const diary = new Diary();
  const runtime = await started([diary.handler("H1", "a")], {
    layers: [diary.layer("M1")],
  });
  diary.take();
  await assertRejects(
    () => runtime.attach({ handlers: [diary.handler("H2", "a")], layers: [] }),
    DuplicateToolError,
    'duplicate tool "a"',
  );
  assertEquals(diary.take(), "H2.up H2.down M1.cfg(a)");
  assertEquals(await dispatch(runtime, "a"), proceed("H1 a"));
});

test("additions that fail to start leave everything as it was", async () => {
  const diary = new Diary();
  const runtime = await started([diary.handler("H1", "a")], {
    layers: [diary.layer("M1")],
  });
  await runtime.attach({ handlers: [diary.handler("H2", "b")], layers: [] });
  diary.take();
  diary.fail("M3.up");
  await assertRejects(
    () =>
      runtime.attach({
        handlers: [diary.handler("H3", "c")],
        layers: [diary.layer("M3")],
      }),
    Error,
    "M3.up failed",
  );
  assertEquals(
    diary.take(),
    "H3.up M1.cfg(a,b,c) M3.cfg(a,b,c) M3.up H3.down M1.cfg(a,b)",
  );
  assertEquals(runtime.toolDefinitions.map(({ name }) => name), ["a", "b"]);
});

test("taking additions back reports failures in the order of the attempts", async () => {
  const diary = new Diary();
  const runtime = await started([]);
  await runtime.attach({ handlers: [diary.handler("H1")], layers: [] });
  await runtime.attach({
    handlers: [diary.handler("H2")],
    layers: [diary.layer("M1")],
  });
  diary.take();
  const errors = [diary.fail("M1.down"), diary.fail("H1.down")];
  assertEquals<unknown>(await runtime.detach(), errors);
  assertEquals(diary.take(), "M1.down H2.down H1.down");
  assertEquals(await runtime.detach(), []);
});

test("a shutdown takes additions of a run with it, first", async () => {
  const diary = new Diary();
  const runtime = await started([diary.handler("H1", "a")]);
  await runtime.attach({ handlers: [diary.handler("H2", "b")], layers: [] });
  diary.take();
  await runtime.shutdown();
  assertEquals(diary.take(), "H2.down H1.down");
});

test("a list that changed during a run with additions is adopted after it", async () => {
  const handler = changing("a");
  const runtime = await started([handler]);
  await runtime.attach({ handlers: [changing("b")], layers: [] });
  handler.offer("c");
  runtime.beginTurn();
  assertEquals(runtime.toolDefinitions.map(({ name }) => name), ["c", "b"]);
  await runtime.detach();
  assertEquals(runtime.toolDefinitions.map(({ name }) => name), ["c"]);
});
