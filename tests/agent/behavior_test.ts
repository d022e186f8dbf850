import {
  type AgentMessage,
  behaviorContinue,
  type BehaviorHook,
  BehaviorHookError,
  behaviorStop,
} from "../../mod.ts";
import { calls, text } from "../../src/testing/mod.ts";
import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertStringIncludes,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { agentWith, echo, shapeOf } from "./fixtures.ts";

test("a hook stops a run after a tool turn", { case: "X-133" }, async () => {
  const { agent, sink, model } = agentWith([calls(["echo"]), text("never")], {
    tools: [echo],
    behaviorHooks: [{
      afterTurn: (turn) => {
        assertEquals(sink.kinds.at(-1), "turn_completed");
        assertEquals(shapeOf(turn.messages), "u a+ t(c1)");
        assertEquals([turn.turn, turn.task, turn.agentId], [1, "go", "a"]);
        return behaviorStop("paused");
      },
    }],
  });
  const result = await agent.run("go");
  assertEquals(
    [result.status, result.stopReason, result.output, result.turns],
    [
      "completed",
      "behavior_stop",
      "paused",
      1,
    ],
  );
  assertEquals([model.requests.length, agent.canContinue], [1, true]);
});

test("the first hook that stops wins", { case: "X-134" }, async () => {
  const asked: string[] = [];
  const hook = (
    name: string,
    answer: ReturnType<BehaviorHook["afterTurn"]>,
  ): BehaviorHook => ({
    name,
    afterTurn: () => {
      asked.push(name);
      return answer;
    },
  });
  const { agent } = agentWith([calls(["echo"])], {
    tools: [echo],
    behaviorHooks: [
      hook("null", null),
      hook("stop", behaviorStop()),
      hook("late", null),
    ],
  });
  await agent.run("go");
  assertEquals(asked, ["null", "stop"]);
  const onward = agentWith([calls(["echo"]), text("fin")], {
    tools: [echo],
    behaviorHooks: [hook("on", Promise.resolve(behaviorContinue()))],
  });
  assertEquals((await onward.agent.run("go")).output, "fin");
});

test(
  "no hook is asked after a turn that ended the run",
  { case: "X-135" },
  async () => {
    const { agent } = agentWith([text("hi")], {
      behaviorHooks: [{
        afterTurn: () => {
          throw new Error("asked");
        },
      }],
    });
    assertEquals((await agent.run("go")).stopReason, "text_response");
  },
);

test("a failing hook fails the run", { case: "X-136" }, async () => {
  const run = async (hook: BehaviorHook) => {
    const { agent } = agentWith([calls(["echo"]), text("fin")], {
      tools: [echo],
      behaviorHooks: [hook],
    });
    return await agent.run("go");
  };
  const exploded = await run({
    name: "bomb",
    afterTurn: () => {
      throw new Error("hook exploded");
    },
  });
  assertEquals([
    exploded.stopReason,
    exploded.failure?.phase,
    exploded.failure?.code,
  ], [
    "runtime_error",
    "hook",
    "hook_error",
  ]);
  assertStringIncludes(exploded.error ?? "", '"bomb" failed: hook exploded');
  assertInstanceOf(exploded.failure?.cause, BehaviorHookError);
  for (
    const odd of ["invalid", { action: "pause" }, {
      action: "continue",
      output: "x",
    }, 7]
  ) {
    const result = await run({
      name: "odd",
      afterTurn: () => odd as unknown as null,
    });
    assertStringIncludes(result.error ?? "", "must return a decision");
  }
  assertEquals((await run({ afterTurn: () => null })).output, "fin");
});

test("a hook cannot change what others see", { case: "X-137" }, async () => {
  let second: unknown;
  const { agent } = agentWith([calls(["echo"]), text("fin")], {
    tools: [echo],
    behaviorHooks: [{
      afterTurn: (turn) => {
        const last = turn.messages.at(-1) as AgentMessage & { content: string };
        assertThrows(() => {
          last.content = "forged";
        }, TypeError);
        assert(Object.isFrozen(turn) && Object.isFrozen(turn.messages));
      },
    }, { afterTurn: (turn) => void (second = turn.messages.at(-1)?.content) }],
  });
  await agent.run("go");
  assertEquals([second, agent.messages.at(-2)?.content], [
    '{"e":{}}',
    '{"e":{}}',
  ]);
});

test(
  "a hook is asked after the last permitted turn",
  { case: "X-138" },
  async () => {
    const run = async (
      answer: ReturnType<BehaviorHook["afterTurn"]>,
      content: string | null,
    ) => {
      let asked = 0;
      const { agent } = agentWith([calls(["echo"], { content })], {
        tools: [echo],
        policy: { maxSteps: 1 },
        behaviorHooks: [{
          afterTurn: () => {
            asked += 1;
            return answer;
          },
        }],
      });
      const { stopReason, output } = await agent.run("go");
      return [stopReason, output, asked, agent.state.result];
    };
    assertEquals(await run(null, null), ["max_steps", null, 1, null]);
    assertEquals(await run(behaviorStop("s"), null), [
      "behavior_stop",
      "s",
      1,
      "s",
    ]);
    assertEquals(await run(behaviorStop(""), "text"), [
      "behavior_stop",
      "",
      1,
      "",
    ]);
    assertEquals(await run(behaviorStop(), "text"), [
      "behavior_stop",
      "text",
      1,
      "text",
    ]);
    assertEquals(await run(behaviorStop(), null), [
      "behavior_stop",
      null,
      1,
      "",
    ]);
  },
);

test("the output of a stop is a text", () => {
  assertThrows(() => behaviorStop(7 as unknown as string), TypeError);
  assertEquals(behaviorStop(null), { action: "stop" });
});
