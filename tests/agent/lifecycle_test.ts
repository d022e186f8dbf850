import {
  AgentShutdownError,
  AgentStartupError,
  BaseHandler,
  DuplicateToolError,
  type Middleware,
  proceed,
} from "../../mod.ts";
import { calls, ScriptedModel, text } from "../../src/testing/mod.ts";
import {
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { agentWith, echo } from "./fixtures.ts";

class LoggedHandler extends BaseHandler {
  readonly tools;
  failStartup: unknown;
  failShutdown: unknown;
  readonly #name: string;
  readonly #log: string[];

  constructor(name: string, log: string[]) {
    super();
    this.#name = name;
    this.#log = log;
    this.tools = [{ name: `tool_${name}` }];
  }

  override startup(): void {
    this.#log.push(`${this.#name}.start`);
    if (this.failStartup !== undefined) throw this.failStartup;
  }

  override shutdown(): void {
    this.#log.push(`${this.#name}.stop`);
    if (this.failShutdown !== undefined) throw this.failShutdown;
  }

  override onTaskStart(): void {
    this.#log.push(`${this.#name}.task`);
  }

  dispatch() {
    return proceed(null);
  }
}

class LoggedModel extends ScriptedModel {
  readonly #log: string[];

  constructor(log: string[], script = [text("hi")]) {
    super(script);
    this.#log = log;
  }

  override startup(): void {
    super.startup();
    this.#log.push("m.start");
  }

  override shutdown(): void {
    super.shutdown();
    this.#log.push("m.stop");
  }
}

function loggedMiddleware(
  name: string,
  log: string[],
): Middleware & { enabled: boolean } {
  const note = (what: string) => void log.push(`${name}.${what}`);
  return {
    name,
    enabled: true,
    configureTools: () => note("conf"),
    startup: () => note("start"),
    shutdown: () => note("stop"),
    onTaskStart: () => note("task"),
    aroundTool: (_context, next) => {
      note("call");
      return next();
    },
  };
}

test(
  "starting and stopping twice does it once",
  { case: "X-007" },
  async () => {
    const { agent, model } = agentWith([]);
    await agent.startup();
    await agent.startup();
    await agent.shutdown();
    await agent.shutdown();
    assertEquals([model.startupCount, model.shutdownCount], [1, 1]);
  },
);

test(
  "resources start and stop in a fixed order",
  { case: "X-008" },
  async () => {
    const log: string[] = [];
    const { agent } = agentWith([], {
      model: new LoggedModel(log),
      tools: [new LoggedHandler("h1", log), new LoggedHandler("h2", log)],
      middleware: [loggedMiddleware("w1", log), loggedMiddleware("w2", log)],
    });
    await agent.run("go");
    await agent.shutdown();
    assertEquals(
      log.join(" "),
      "m.start h1.start h2.start w1.conf w2.conf w1.start w2.start h1.task h2.task w1.task w2.task " +
        "w2.stop w1.stop h2.stop h1.stop m.stop",
    );
  },
);

test(
  "a failed start-up rolls back what was started",
  { case: "X-009" },
  async () => {
    const log: string[] = [];
    const h2 = new LoggedHandler("h2", log);
    h2.failStartup = new Error("hfail");
    const { agent, model } = agentWith([], {
      model: new LoggedModel(log),
      tools: [new LoggedHandler("h1", log), h2, new LoggedHandler("h3", log)],
      middleware: [loggedMiddleware("w1", log)],
    });
    assertStrictEquals(
      await assertRejects(() => agent.startup()),
      h2.failStartup as Error,
    );
    assertEquals(log.join(" "), "m.start h1.start h2.start h1.stop m.stop");
    h2.failStartup = undefined;
    log.length = 0;
    await agent.startup();
    assertEquals(
      log.join(" "),
      "m.start h1.start h2.start h3.start w1.conf w1.start",
    );
    assertEquals(model.startupCount, 2);
  },
);

test("two handlers that offer one tool fail the start-up", {
  case: ["X-011", "TL-38"],
}, async () => {
  class EchoHandler extends BaseHandler {
    readonly tools = [{ name: "echo" }];
    dispatch() {
      return proceed(null);
    }
  }
  const { agent, model } = agentWith([], {
    tools: [new EchoHandler(), new EchoHandler()],
  });
  await assertRejects(
    () => agent.startup(),
    DuplicateToolError,
    'duplicate tool "echo" (EchoHandler, EchoHandler)',
  );
  assertEquals([model.startupCount, model.shutdownCount], [1, 1]);
});

test("a shutdown attempts everything and reports all failures", {
  case: ["X-012", "TL-41"],
}, async () => {
  const log: string[] = [];
  const [h1, h2] = [new LoggedHandler("h1", log), new LoggedHandler("h2", log)];
  h1.failShutdown = new Error("h1 is stuck");
  const model = new LoggedModel(log);
  model.shutdown = () => {
    throw new Error("model is stuck");
  };
  const { agent } = agentWith([], { model, tools: [h1, h2] });
  await agent.startup();
  const error = await assertRejects(() => agent.shutdown(), AgentShutdownError);
  assertEquals(error.errors.map(String), [
    "Error: h1 is stuck",
    "Error: model is stuck",
  ]);
  assertEquals(log.filter((entry) => entry.endsWith(".stop")), [
    "h2.stop",
    "h1.stop",
  ]);
  assertEquals(agent.lifecycle, "stopped");
  await agent.shutdown();
  await agent.startup();
  assertEquals(model.startupCount, 2);
});

test("middleware for tools sleeps in an agent without tools", {
  case: ["X-013", "TL-39"],
}, async () => {
  const log: string[] = [];
  const { agent } = agentWith([text("hi")], {
    middleware: [loggedMiddleware("w", log)],
  });
  await agent.run("go");
  await agent.shutdown();
  assertEquals(log, []);
});

test("middleware disabled after the start is still shut down", {
  case: "X-014",
}, async () => {
  const log: string[] = [];
  const middleware = loggedMiddleware("w", log);
  const { agent } = agentWith([], { tools: [echo], middleware: [middleware] });
  await agent.startup();
  middleware.enabled = false;
  await agent.shutdown();
  assertEquals(log, ["w.conf", "w.start", "w.stop"]);
});

test("a run that cannot start rejects and leaves no trace", async () => {
  const model = new ScriptedModel([text("hi")]);
  const failure = new Error("no network");
  model.startup = () => Promise.reject(failure);
  const { agent, sink } = agentWith([], { model });
  const error = await assertRejects(
    () => agent.run("go"),
    AgentStartupError,
    "no network",
  );
  assertStrictEquals(error.cause, failure);
  assertEquals(
    [sink.events.length, agent.messages.length, agent.state.status],
    [0, 1, "idle"],
  );
});

test("a run starts a stopped agent again", async () => {
  const { agent, model } = agentWith([text("1"), text("2")]);
  await agent.run("one");
  await agent.shutdown();
  assertEquals((await agent.run("two")).output, "2");
  assertEquals([model.startupCount, model.shutdownCount], [2, 1]);
  await agent[Symbol.asyncDispose]();
  assertEquals(model.shutdownCount, 2);
});

test(
  "a handler's task start is told about every run",
  { case: "TL-42" },
  async () => {
    const log: string[] = [];
    const { agent } = agentWith([text("1"), text("2"), text("3")], {
      tools: [new LoggedHandler("h", log)],
    });
    await agent.run("one");
    await agent.run("two");
    await agent.continueRun();
    await agent.dispatch("tool_h", {});
    assertEquals(log.filter((entry) => entry === "h.task").length, 3);
  },
);

test(
  "the order of one tool run's events is fixed",
  { case: "TL-51" },
  async () => {
    const { agent, sink } = agentWith([calls(["echo"]), text("fin")], {
      tools: [echo],
    });
    await agent.run("go");
    assertEquals(
      sink.trace(),
      "AS TS1 MC tS(c1) tC(c1) TC1 TS2 MC TC2 AF(completed/text_response)",
    );
    const started = sink.ofKind("tool_started")[0];
    assertInstanceOf(started, Object);
    assertStrictEquals(
      started.toolCall,
      sink.ofKind("tool_completed")[0]?.toolCall,
    );
  },
);
