import {
  AgentContextBuilder,
  type AgentMessage,
  BaseHandler,
  type ContextProvider,
  type ContextRun,
  MemorySessionStorage,
  proceed,
  SessionHistoryProvider,
  type SkillCatalog,
  systemMessage,
  TOOL_PROTOCOL_PROMPT,
  userMessage,
} from "../../mod.ts";
import { calls, fail, text } from "../../src/testing/mod.ts";
import { ToolSchemaValidationMiddleware } from "../../src/validation/mod.ts";
import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import {
  agentWith,
  contentsOf,
  echo,
  shapeOf,
  toolResultsOf,
} from "../agent/fixtures.ts";
import { provider, tracing } from "./fixtures.ts";

const user = (content: string): AgentMessage => ({ role: "user", content });

class LoggedHandler extends BaseHandler {
  readonly tools;
  readonly #log: string[];

  constructor(log: string[], name = "x") {
    super();
    this.#log = log;
    this.tools = [{ name }];
  }

  override startup(): void {
    this.#log.push("handler.start");
  }

  override shutdown(): void {
    this.#log.push("handler.stop");
  }

  override onTaskStart(): void {
    this.#log.push("handler.task");
  }

  dispatch(name: string) {
    return proceed(name);
  }
}

test("a run asks everybody in a fixed order", { case: "PL-C-01" }, async () => {
  const log: string[] = [];
  const { agent } = agentWith([text("hi")], {
    tools: [new LoggedHandler(log)],
    middleware: [{
      aroundTool: (_context, next) => next(),
      onTaskStart: () => void log.push("mw.task"),
    }],
    history: {
      sourceId: "H",
      load: () => {
        log.push("load");
        return Promise.resolve([]);
      },
    },
    contextProviders: [provider("P1", log), provider("P2", log)],
    onEvent: (event) => void log.push(event.kind),
  });
  await agent.run("t");
  const start = log.indexOf("load");
  assertEquals(log.slice(start, start + 7), [
    "load",
    "agent_started",
    "handler.task",
    "mw.task",
    "P1+",
    "P2+",
    "turn_started",
  ]);
});

const skills: SkillCatalog = {
  discover: () => Promise.resolve(),
  indexMessage: () => systemMessage("skill index"),
  select: (content) => content.includes("$pdf") ? "pdf" : null,
  prepare: () => Promise.resolve(),
  message: () => systemMessage("skill text"),
};

test(
  "a request holds everything in a fixed order",
  { case: "PL-C-05" },
  async () => {
    const { agent, model } = agentWith([text("one"), text("two")], {
      skills,
      middleware: [{
        aroundRun: (request, next) =>
          next({
            ...request,
            contextMessages: request.task === "u $pdf" ? [user("q")] : [],
          }),
      }],
      contextProviders: [1, 2].map((n): ContextProvider => ({
        sourceId: `P${n}`,
        beforeRun(run) {
          if (run.task !== "u $pdf") return;
          run.extendInstructions(`I${n}`);
          run.extendMessages(user(`m${n}`));
        },
      })),
    });
    await agent.run("t");
    await agent.run("u $pdf");
    const sent = model.contexts[1]?.llmMessages ?? [];
    assertEquals(contentsOf(sent), [
      "P",
      "skill index",
      "skill text",
      "I1\nI2",
      "t",
      "one",
      "q",
      "m1",
      "m2",
      "u $pdf",
    ]);
    assertEquals(sent[3]?.role, "system");
    assertEquals(agent.state.activeSkillName, "pdf");
  },
);

test(
  "added messages stay before the task in every turn",
  { case: "PL-C-06" },
  async () => {
    const { agent, model } = agentWith([
      calls(["echo"]),
      calls([{ name: "echo", arguments: { k: 1 } }]),
      text("fin"),
    ], {
      tools: [echo],
      contextProviders: [{
        sourceId: "p",
        beforeRun: (run) => run.extendMessages(user("m")),
      }],
    });
    await agent.run("t");
    for (const context of model.contexts) {
      assertEquals(contentsOf(context.llmMessages).slice(2, 4), ["m", "t"]);
    }
    assertEquals(
      shapeOf(model.contexts[2]?.llmMessages ?? []),
      "u u a+ t(c1) a+ t(c1_2)",
    );
  },
);

test("added messages are never kept", { case: "PL-C-07" }, async () => {
  const storage = new MemorySessionStorage();
  let adding = true;
  const snapshots: readonly AgentMessage[][] = [];
  const { agent, model } = agentWith([
    calls(["echo"]),
    text("one"),
    text("two"),
  ], {
    tools: [echo],
    history: new SessionHistoryProvider({ storage, sessionId: "s" }),
    behaviorHooks: [{
      afterTurn: (turn) => void (snapshots as unknown[]).push(turn.messages),
    }],
    contextProviders: [{
      sourceId: "p",
      beforeRun: (run) =>
        adding ? run.extendMessages(user("passing")) : undefined,
    }],
  });
  await agent.run("t");
  adding = false;
  await agent.run("u");
  const session = await storage.load("s");
  const kept = JSON.stringify([agent.messages, snapshots, session?.messages]);
  assertEquals(kept.includes("passing"), false);
  assert(contentsOf(model.contexts[1]?.llmMessages ?? []).includes("passing"));
  assertEquals(
    contentsOf(model.contexts[2]?.llmMessages ?? []).includes("passing"),
    false,
  );
});

test("providers see what was added before them and change nothing", {
  case: "PL-C-09",
}, async () => {
  let seen: unknown;
  const { agent, model } = agentWith([text("hi")], {
    contextProviders: [
      { sourceId: "P1", beforeRun: (run) => run.extendMessages(user("m1")) },
      {
        sourceId: "P2",
        beforeRun(run) {
          const [first] = run.contributions;
          seen = [
            first?.sourceId,
            contentsOf(first?.messages ?? []),
            run.history.length,
          ];
          assertThrows(() => {
            (first?.messages[0] as { content: string }).content = "forged";
          }, TypeError);
        },
      },
    ],
  });
  await agent.run("t");
  assertEquals(seen, ["P1", ["m1"], 1]);
  assertEquals(contentsOf(model.contexts[0]?.llmMessages ?? []), [
    "P",
    "m1",
    "t",
  ]);
});

test(
  "a run is closed to additions after beforeRun",
  { case: "PL-C-10" },
  async () => {
    const { agent, logger } = agentWith([text("hi")], {
      contextProviders: [{
        sourceId: "late",
        beforeRun: () => {},
        afterRun: (run) => run.extendMessages(user("late")),
      }],
    });
    assertEquals((await agent.run("t")).status, "completed");
    assertEquals(logger.warnings.length, 1);
    assertStringIncludes(
      String(logger.warnings[0]?.details?.error),
      "beforeRun",
    );
  },
);

test(
  "a provider can bring tools for one run",
  { case: "PL-C-11" },
  async () => {
    const log: string[] = [];
    let bringing = true;
    const { agent, model } = agentWith([
      calls(["echo"]),
      text("one"),
      text("two"),
    ], {
      contextProviders: [provider("p", log, {
        before: (run) => {
          if (bringing) run.extendTools(new LoggedHandler(log, "echo"));
        },
      })],
    });
    await agent.run("t");
    const offered = model.contexts.map((context) =>
      context.tools.map((tool) => tool.function.name)
    );
    assertEquals(offered[0], ["echo"]);
    const protocol = contentsOf(model.contexts[0]?.llmMessages ?? [])
      .filter((content) => String(content).includes(TOOL_PROTOCOL_PROMPT));
    assertEquals(protocol.length, 1);
    assertEquals(agent.messages.at(-2)?.content, "echo");
    assertEquals(log, [
      "p+",
      "handler.start",
      "handler.task",
      "p-:completed",
      "handler.stop",
    ]);
    bringing = false;
    await agent.run("u");
    assertEquals(model.contexts[2]?.tools, []);
  },
);

test("a tool that exists already fails the run and names its source", {
  case: "PL-C-12",
}, async () => {
  const log: string[] = [];
  const { agent, model } = agentWith([], {
    tools: [echo],
    contextProviders: [provider("greedy", log, {
      before: (run) => run.extendTools(new LoggedHandler(log, "echo")),
    })],
  });
  const result = await agent.run("t");
  assertEquals([result.stopReason, model.requests.length], [
    "runtime_error",
    0,
  ]);
  assertStringIncludes(result.error ?? "", '"echo"');
  assertStringIncludes(result.error ?? "", '"greedy"');
  assertEquals(log, [
    "greedy+",
    "handler.start",
    "handler.stop",
    "greedy-:failed",
  ]);
});

test(
  "the agent's validation covers tools of providers",
  { case: "PL-C-14" },
  async () => {
    const withSchema = (parameters: Record<string, unknown>) =>
      agentWith([
        calls([{ name: "strict", arguments: { n: "x" } }]),
        text("ok"),
      ], {
        middleware: [new ToolSchemaValidationMiddleware()],
        contextProviders: [{
          sourceId: "p",
          beforeRun(run) {
            class Strict extends BaseHandler {
              readonly tools = [{
                name: "strict",
                parameters: parameters as never,
              }];
              dispatch() {
                return proceed("executed");
              }
            }
            run.extendTools(new Strict());
          },
        }],
      });
    const good = withSchema({
      type: "object",
      properties: { n: { type: "number" } },
    });
    await good.agent.run("t");
    const [first] = toolResultsOf(good.agent.messages) as { code?: string }[];
    assertEquals(first?.code, "invalid_tool_arguments");
    const bad = withSchema({ type: "nonsense" });
    const result = await bad.agent.run("t");
    assertEquals([result.stopReason, bad.model.requests.length], [
      "runtime_error",
      0,
    ]);
  },
);

test(
  "options of the caller win over those of providers",
  { case: "PL-C-15" },
  async () => {
    const { agent, model } = agentWith([text("hi")], {
      contextProviders: [
        {
          sourceId: "P1",
          beforeRun: (run) =>
            run.extendOptions({ temperature: 0.1, topP: 0.5 }),
        },
        {
          sourceId: "P2",
          beforeRun: (run) => run.extendOptions({ temperature: 0.9 }),
        },
      ],
    });
    await agent.run("t", { modelOptions: { topP: 1 } });
    assertEquals(model.requests[0]?.call.options, {
      temperature: 0.9,
      topP: 1,
    });
  },
);

test("middleware of providers stands inside the agent's for one run", {
  case: "PL-C-16",
}, async () => {
  const log: string[] = [];
  let adding = true;
  const adds = (name: string): ContextProvider => ({
    sourceId: name,
    beforeRun: (run) =>
      adding ? run.extendMiddleware(tracing(name, log, "mt")) : undefined,
  });
  const { agent } = agentWith([calls(["echo"]), text("one"), text("two")], {
    tools: [echo],
    middleware: [tracing("A", log, "mt")],
    contextProviders: [adds("B"), adds("C")],
  });
  await agent.run("t");
  const model = "A>m B>m C>m C<m B<m A<m";
  assertEquals(log.join(" "), `${model} A>t B>t C>t C<t B<t A<t ${model}`);
  adding = false;
  log.length = 0;
  await agent.run("u");
  assertEquals(log.join(" "), "A>m A<m");
});

test("middleware of a provider that is switched off is left out of every layer", async () => {
  const log: string[] = [];
  const { agent } = agentWith([calls(["echo"]), text("one")], {
    tools: [echo],
    contextProviders: [{
      sourceId: "p",
      beforeRun: (run) =>
        run.extendMiddleware(
          { ...tracing("off", log, "mt"), enabled: false },
          tracing("on", log, "mt"),
        ),
    }],
  });
  await agent.run("t");
  assertEquals(log.join(" "), "on>m on<m on>t on<t on>m on<m");
});

test("context messages of the caller reach this run's requests alone", async () => {
  const { agent, model } = agentWith([text("one"), text("two")]);
  await agent.run("t", { contextMessages: [userMessage("note")] });
  await agent.run("u");
  assertEquals(
    model.contexts.map(({ llmMessages }) => contentsOf(llmMessages)),
    [["P", "note", "t"], ["P", "t", "one", "u"]],
  );
});

test("a provider cannot wrap runs", { case: "PL-C-17" }, async () => {
  const { agent, model } = agentWith([], {
    contextProviders: [{
      sourceId: "p",
      beforeRun: (run) => run.extendMiddleware(tracing("W", [])),
    }],
  });
  const result = await agent.run("t");
  assertEquals([result.stopReason, model.requests.length], [
    "runtime_error",
    0,
  ]);
  assertStringIncludes(result.error ?? "", "wraps runs");
});

test("providers are told of the end in reverse, history last", {
  case: ["PL-C-18", "PL-C-19"],
}, async () => {
  const run = async (script: Parameters<typeof agentWith>[0]) => {
    const log: string[] = [];
    const { agent } = agentWith(script, {
      contextProviders: ["P1", "P2", "P3"].map((id) => provider(id, log)),
      history: {
        sourceId: "H",
        load: () => Promise.resolve(null),
        save: () => {
          log.push("save");
          return Promise.resolve();
        },
      },
    });
    await agent.run("t");
    return log.join(" ");
  };
  assertEquals(
    await run([text("hi")]),
    "P1+ P2+ P3+ P3-:completed P2-:completed P1-:completed save",
  );
  assertEquals(
    await run([fail(new Error("x"))]),
    "P1+ P2+ P3+ P3-:failed P2-:failed P1-:failed save",
  );
});

test("a provider that throws ends the run for those before it", async () => {
  const log: string[] = [];
  const { agent, model } = agentWith([], {
    contextProviders: [
      provider("P1", log),
      provider("P2", log, {
        before: () => {
          throw new Error("no context");
        },
      }),
      provider("P3", log),
    ],
  });
  const result = await agent.run("t");
  assertEquals([result.error, result.failure?.phase, model.requests.length], [
    "no context",
    "prepare",
    0,
  ]);
  assertEquals(log, ["P1+", "P2+", "P1-:failed"]);
});

test(
  "an afterRun that throws starves nobody",
  { case: "PL-C-21" },
  async () => {
    const log: string[] = [];
    const { agent, logger } = agentWith([text("hi")], {
      contextProviders: [
        provider("P1", log),
        provider("P2", log, {
          after: () => {
            throw new Error("oops");
          },
        }),
      ],
      history: {
        sourceId: "H",
        load: () => Promise.resolve(null),
        save: () => {
          log.push("save");
          return Promise.resolve();
        },
      },
    });
    assertEquals((await agent.run("t")).status, "completed");
    assertEquals(log, ["P1+", "P2+", "P2-:completed", "P1-:completed", "save"]);
    assertEquals(logger.warnings.length, 1);
  },
);

test(
  "a provider keeps its own state",
  { case: ["PL-C-25", "PL-C-26"] },
  async () => {
    const seen: number[] = [];
    const counting: ContextProvider = {
      sourceId: "counter",
      beforeRun({ state }) {
        state.n = Number(state.n ?? 0) + 1;
        seen.push(Number(state.n));
      },
    };
    const { agent } = agentWith([text("1"), text("2"), text("3")], {
      contextProviders: [counting],
    });
    for (const task of ["a", "b", "c"]) await agent.run(task);
    const kept = agent.providerState;
    assertEquals(kept, { counter: { n: 3 } });
    assert(Object.isFrozen(kept.counter));
    const other =
      agentWith([text("4"), text("5")], { contextProviders: [counting] }).agent;
    other.restoreProviderState(kept);
    await other.run("d");
    assertEquals(seen, [1, 2, 3, 4]);
    other.reset();
    assertEquals(other.providerState, {});
  },
);

test("added messages carry their source, which is never sent", {
  case: "PL-C-27",
}, async () => {
  const seen: unknown[] = [];
  class Watching extends AgentContextBuilder {
    override convertToLlmMessages(messages: readonly AgentMessage[]) {
      seen.push(messages.map((message) => message._ejagent_source));
      return messages;
    }
  }
  const { agent, model } = agentWith([text("hi")], {
    contextBuilder: new Watching(),
    middleware: [{
      aroundRun: (request, next) =>
        next({ ...request, contextMessages: [user("q")] }),
    }],
    contextProviders: [{
      sourceId: "p",
      beforeRun: (run) => run.extendMessages(user("m")),
    }],
  });
  await agent.run("t");
  assertEquals(seen, [[undefined, "middleware", "p", undefined]]);
  assertEquals(
    JSON.stringify(model.contexts[0]?.llmMessages).includes("_ejagent_"),
    false,
  );
});

test("a provider sees who asks and why", async () => {
  const seen: unknown[] = [];
  const watch = ({ kind, task, agent }: ContextRun) =>
    void seen.push([kind, task, agent.agentId]);
  const { agent } = agentWith([text("1"), text("2")], {
    contextProviders: [{ sourceId: "p", beforeRun: watch }],
  });
  await agent.run("t");
  await agent.continueRun();
  assertEquals(seen, [["task", "t", "a"], ["continue", undefined, "a"]]);
});

test("a message without content is refused where it is added", async () => {
  const { agent, model } = agentWith([text("never")], {
    contextProviders: [{
      sourceId: "notes",
      beforeRun: (run) => run.extendMessages({ role: "user" } as AgentMessage),
    }],
  });
  const { status, error } = await agent.run("t");
  assertEquals([status, model.requests.length], ["failed", 0]);
  assertStringIncludes(
    String(error),
    "extendMessages[0] must be a message with a known role and content",
  );
});
