import fc from "fast-check";
import {
  type CompactionPreparation,
  prepareCompaction,
  type PrepareCompactionOptions,
} from "../../src/context/prepare.ts";
import type { AgentMessage } from "../../src/messages/message.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { histories } from "./histories.ts";
import {
  assistant,
  calling,
  memberEstimator,
  outline,
  result,
  system,
  user,
} from "./messages.ts";

const estimator = memberEstimator();

function prepare(
  messages: readonly AgentMessage[],
  keepRecentTokens: number,
  options: Partial<PrepareCompactionOptions> = {},
): CompactionPreparation {
  return prepareCompaction(messages, {
    keepRecentTokens,
    estimator,
    ...options,
  });
}

/** Start, cut, and the tokens of history, summarised and kept part. */
function numbersOf(preparation: CompactionPreparation): number[] {
  return [
    preparation.historyStartIndex,
    preparation.firstKeptIndex,
    preparation.estimatedHistoryTokens,
    preparation.estimatedSummarizedTokens,
    preparation.estimatedKeptTokens,
  ];
}

function turn(name: string, tokens: number): AgentMessage[] {
  return [user(`u${name}`, tokens), assistant(`a${name}`, tokens)];
}

function withoutRole(): AgentMessage {
  return { content: "?" } as unknown as AgentMessage;
}

test("whole turns stay until enough is kept", { case: "SE-D-01" }, () => {
  const history = [
    system("s", 1),
    ...turn("1", 10),
    ...turn("2", 10),
    ...turn("3", 10),
  ];
  const some = prepare(history, 20);
  assertEquals(numbersOf(some), [1, 5, 60, 40, 20]);
  assertEquals(outline(some.protectedMessages), "s:s");
  assertEquals(outline(some.messagesToSummarize), "u:u1 a:a1 u:u2 a:a2");
  assertEquals(outline(some.messagesToKeep), "u:u3 a:a3");
  assertEquals(some.canCompact, true);

  assertEquals(numbersOf(prepare(history, 21)), [1, 3, 60, 20, 40]);
  const none = prepare(history, 41);
  assertEquals(numbersOf(none), [1, 1, 60, 0, 60]);
  assertEquals(none.canCompact, false);
});

test("calls stay with their results, and nothing changes later", {
  case: "SE-D-02",
}, () => {
  const call = calling(["c"], 5);
  const history = [
    system("core"),
    user("u1", 10),
    call,
    result("c", 100),
    assistant("a1", 5),
    user("u2", 20),
    assistant("a2", 10),
    user("u3", 30),
    assistant("a3", 20),
  ];
  const preparation = prepare(history, 60);
  assertEquals(numbersOf(preparation), [1, 5, 200, 120, 80]);
  assertEquals(
    preparation.messagesToSummarize.map((message) => message.role),
    ["user", "assistant", "tool", "assistant"],
  );
  assertEquals(
    preparation.messagesToKeep.map((message) => message.role),
    ["user", "assistant", "user", "assistant"],
  );

  Reflect.get(call, "tool_calls").pop();
  assertEquals(preparation.messagesToSummarize[1], calling(["c"], 5));
});

test("everything up to the last barrier is protected", {
  case: "SE-D-03",
}, () => {
  const history = [
    system("s"),
    ...turn("1", 100),
    system("late"),
    ...turn("2", 100),
  ];
  const preparation = prepare(history, 10);
  assertEquals(preparation.historyStartIndex, 4);
  assertEquals(preparation.protectedMessages.length, 4);
  assertEquals(preparation.messagesToKeep.length, 2);
  assertEquals(preparation.canCompact, false);
});

test("text before the first user message is a turn of its own", {
  case: "SE-D-04",
}, () => {
  const preparation = prepare(
    [system("s"), assistant("a0", 5), ...turn("1", 5)],
    1,
  );
  assertEquals(outline(preparation.messagesToSummarize), "a:a0");
  assertEquals(outline(preparation.messagesToKeep), "u:u1 a:a1");
  assertEquals(preparation.firstKeptIndex, 2);
});

test("a developer message and one without a role are barriers", {
  case: "SE-D-05",
}, () => {
  const developer: AgentMessage = { role: "developer", content: "d" };
  const amid = prepare(
    [user("u", 5), developer, user("v", 5), assistant("a", 5)],
    1,
  );
  assertEquals(amid.historyStartIndex, 2);
  assertEquals(amid.protectedMessages.length, 2);
  assertEquals(amid.messagesToSummarize, []);

  const last = prepare([user("u", 5), assistant("a", 5), withoutRole()], 1);
  assertEquals(numbersOf(last), [3, 3, 0, 0, 0]);
  assertEquals(last.messagesToKeep, []);
  assertEquals(last.protectedMessages.length, 3);
});

test("nothing to compact in nothing", { case: "SE-D-06" }, () => {
  const empty = prepare([], 1);
  assertEquals(numbersOf(empty), [0, 0, 0, 0, 0]);
  assertEquals(empty.canCompact, false);
  const prompt = prepare([system("s", 5)], 1);
  assertEquals(numbersOf(prompt), [1, 1, 0, 0, 0]);
  assertEquals(prompt.canCompact, false);
  assertThrows(() => prepare([], 0), RangeError, "keepRecentTokens");
  assertThrows(() => prepare([], 1.5), TypeError, "keepRecentTokens");
  assertThrows(
    () => prepare([], 1, { maxKeepTokens: 0 }),
    RangeError,
    "maxKeepTokens",
  );
});

test("messages that cost nothing all stay", { case: "SE-D-07" }, () => {
  const preparation = prepare([...turn("1", 0), ...turn("2", 0)], 1);
  assertEquals(preparation.messagesToKeep.length, 4);
  assertEquals(preparation.canCompact, false);
});

test("one long turn is cut before an answer if that is allowed", {
  case: "SE-D-09",
}, () => {
  const history = [user("task", 100)];
  const steps: AgentMessage[] = [];
  for (let step = 1; step <= 50; step++) {
    steps.push(calling([`c${step}`], 100), result(`c${step}`, 100));
  }
  const all = [...history, ...steps];
  const split = prepare(all, 500, { splitTurns: true });
  assertEquals(split.canCompact, true);
  assertEquals(split.messagesToSummarize, steps.slice(0, 94));
  assertEquals(split.messagesToKeep, [user("task", 100), ...steps.slice(94)]);
  assertEquals(numbersOf(split), [0, 95, 10_100, 9400, 700]);

  assertEquals(prepare(all, 500).canCompact, false);
});

test("a turn is not split if a whole turn can go, or if it is short enough", () => {
  const long = [user("v", 10), calling(["c"], 50), result("c", 50)];
  const options = { splitTurns: true };
  const whole = prepare([...turn("1", 10), ...long], 20, options);
  assertEquals(outline(whole.messagesToSummarize), "u:u1 a:a1");
  assertEquals(prepare(long, 110, options).canCompact, false);
  const steps = [...long, assistant("done", 50)];
  assertEquals(prepare(steps, 50, options).firstKeptIndex, 3);
  assertEquals(prepare(steps, 51, options).canCompact, false);
});

test("parallel calls and their results are never cut apart", {
  case: "B04",
}, () => {
  const batch = [
    user("u1", 10),
    calling(["a", "b"], 10),
    result("a", 100),
    result("b", 10),
  ];
  const preparation = prepare([...batch, user("u2", 10)], 1);
  assertEquals(preparation.messagesToSummarize, batch);
  const tight = prepare(batch, 1, { splitTurns: true });
  assertEquals(tight.canCompact, false);
  const late = prepare(
    [user("u1", 9), calling(["a", "b"], 9), result("a", 9), user("u2", 9)]
      .concat([result("b", 9), assistant("x", 9)]),
    1,
  );
  assertEquals(late.canCompact, false);
});

test("a result far from its call is found wherever it stands", {
  case: "B07",
}, () => {
  const imported = [
    user("u1", 10),
    calling(["x"], 10),
    user("u2", 10),
    assistant("a2", 10),
    user("u3", 10),
    result("x", 10),
    assistant("a3", 10),
    user("u4", 10),
    assistant("a4", 10),
  ];
  assertEquals(prepare(imported, 20).firstKeptIndex, 7);
  // Turn 3 holds the result, so it cannot stay without turn 1.
  assertEquals(prepare(imported, 21).canCompact, false);
});

test("a barrier inside an exchange protects the results as well", () => {
  const history = [
    user("u1", 10),
    calling(["a", "b"], 10),
    system("late", 10),
    result("a", 10),
    user("u2", 10),
    result("b", 10),
    assistant("a2", 10),
    ...turn("3", 10),
    ...turn("4", 10),
  ];
  const preparation = prepare(history, 20);
  assertEquals(preparation.historyStartIndex, 6);
  assertEquals(outline(preparation.messagesToSummarize), "a:a2 u:u3 a:a3");
});

test("a reused id does not drag the start behind newer exchanges", () => {
  const exchange = [calling(["t:0"], 10), result("t:0", 10)];
  const history = [
    user("u1", 10),
    ...exchange,
    system("late", 10),
    user("u2", 10),
    ...exchange,
    user("u3", 10),
  ];
  assertEquals(prepare(history, 5).historyStartIndex, 4);
});

test("hoisted barriers move to the front and free what is before them", () => {
  const developer: AgentMessage = { role: "developer", content: "d" };
  const history = [
    system("s", 1),
    user("u1", 10),
    system("b1", 10),
    assistant("a1", 10),
    developer,
    ...turn("2", 10),
    system("b2", 10),
    ...turn("3", 10),
  ];
  const preparation = prepare(history, 25, { barriers: "hoist" });
  assertEquals(outline(preparation.protectedMessages), "s:s s:b1 d:d");
  assertEquals(outline(preparation.messagesToSummarize), "u:u1 a:a1");
  assertEquals(
    outline(preparation.messagesToKeep),
    "u:u2 a:a2 s:b2 u:u3 a:a3",
  );
  assertEquals(numbersOf(preparation), [1, 5, 70, 20, 50]);

  const nothing = prepare([user("u", 10), system("b"), assistant("a", 10)], 5, {
    barriers: "hoist",
  });
  assertEquals(nothing.canCompact, false);
  assertEquals(outline(nothing.messagesToKeep), "u:u s:b a:a");
});

test("a hoisted barrier at the head of a turn does not hide who opened it", () => {
  const developer: AgentMessage = { role: "developer", content: "d" };
  const history = [
    developer,
    user("task", 10),
    calling(["a"], 50),
    result("a", 50),
    assistant("x", 50),
  ];
  const split = prepare(history, 20, { barriers: "hoist", splitTurns: true });
  assertEquals(outline(split.protectedMessages), "d:d");
  assertEquals(outline(split.messagesToKeep), "u:task a:x");
});

test("the turn that is going on stays, however much it holds", {
  case: "B94",
}, () => {
  const pasted = user("aB3/".repeat(250_000));
  const image = {
    role: "user" as const,
    content: [{
      type: "image_url" as const,
      image_url: { url: `data:image/png;base64,${"A".repeat(3_000_000)}` },
    }],
  };
  for (const current of [pasted, image]) {
    const preparation = prepareCompaction(
      [...turn("1", 10), current, assistant("done")],
      { keepRecentTokens: 10, splitTurns: true },
    );
    assertEquals(outline(preparation.messagesToSummarize), "u:u1 a:a1");
    const alone = prepareCompaction(
      [current, calling(["a"]), result("a"), assistant("done")],
      { keepRecentTokens: 5, splitTurns: true },
    );
    assertEquals(alone.messagesToKeep[0], current);
  }
});

test("a turn that would make the kept part too large does not stay", () => {
  const history = [...turn("1", 10), ...turn("2", 50), ...turn("3", 10)];
  assertEquals(prepare(history, 30, { maxKeepTokens: 119 }).firstKeptIndex, 4);
  assertEquals(prepare(history, 30, { maxKeepTokens: 120 }).firstKeptIndex, 2);
  assertEquals(prepare(history, 30, { maxKeepTokens: 5 }).firstKeptIndex, 4);
});

test("a preparation is a division of the history that splits no exchange", () => {
  fc.assert(fc.property(
    histories,
    fc.integer({ min: 1, max: 80 }),
    fc.boolean(),
    fc.constantFrom("freeze" as const, "hoist" as const),
    (history, keepRecentTokens, splitTurns, barriers) => {
      const preparation = prepareCompaction(history, {
        keepRecentTokens,
        splitTurns,
        barriers,
        estimator: {
          estimateMessage: ({ role }) => role === "tool" ? 20 : 10,
          estimateTools: () => 0,
        },
      });
      assertDivided(history, preparation);
      assertUnsplit(preparation);
    },
  ));
});

function assertDivided(
  history: readonly AgentMessage[],
  preparation: CompactionPreparation,
): void {
  const {
    protectedMessages,
    messagesToSummarize,
    messagesToKeep,
    historyStartIndex,
    firstKeptIndex,
  } = preparation;
  const lists = [protectedMessages, messagesToSummarize, messagesToKeep];
  const sorted = (list: readonly AgentMessage[]) =>
    list.map((message) => JSON.stringify(message)).sort();
  assertEquals(sorted(lists.flat()), sorted(history));
  assertEquals(
    preparation.estimatedHistoryTokens,
    preparation.estimatedSummarizedTokens + preparation.estimatedKeptTokens,
  );
  assertEquals(preparation.canCompact, messagesToSummarize.length > 0);
  assertEquals(preparation.canCompact, firstKeptIndex > historyStartIndex);
  const behindCut = history.slice(firstKeptIndex);
  assertEquals(
    messagesToKeep.slice(messagesToKeep.length - behindCut.length),
    behindCut,
  );
}

/** No list holds a result whose call, the newest with its id before it, is in an earlier list. */
function assertUnsplit(preparation: CompactionPreparation): void {
  const { protectedMessages, messagesToSummarize, messagesToKeep } =
    preparation;
  const listOfCall = new Map<string, number>();
  const lists = [protectedMessages, messagesToSummarize, messagesToKeep];
  for (const [index, list] of lists.entries()) {
    for (const message of list) {
      if (message.role === "tool") {
        const owner = listOfCall.get(message.tool_call_id) ?? index;
        assert(owner === index, "a result without its call");
      } else if (message.role === "assistant") {
        const calls: readonly ({ id: string } | null)[] = message.tool_calls ??
          [];
        for (const call of calls) if (call) listOfCall.set(call.id, index);
      }
    }
  }
}
