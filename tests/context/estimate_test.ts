import fc from "fast-check";
import { CompactionPolicy, ContextBudget } from "../../src/context/budget.ts";
import { AgentContextBuilder } from "../../src/context/builder.ts";
import { Conversation } from "../../src/context/conversation.ts";
import {
  contextUsageEstimate,
  type ContextUsageEstimateInput,
  estimateContextUsage,
} from "../../src/context/estimate.ts";
import {
  defaultEstimator,
  type MessageTokenEstimator,
} from "../../src/context/estimator.ts";
import type { AgentMessage } from "../../src/messages/message.ts";
import { originOf } from "../../src/model/provider_data.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { histories } from "./histories.ts";
import {
  assistant,
  calling,
  memberEstimator,
  result,
  system,
  user,
  withUsage,
} from "./messages.ts";

const estimator = memberEstimator();
const tools = [{ type: "function" as const, function: { name: "work" } }];

function estimate(...messages: AgentMessage[]) {
  return estimateContextUsage(messages, { estimator });
}

test(
  "without reported usage everything is estimated",
  { case: "SE-B-06" },
  () => {
    assertEquals(
      estimateContextUsage([system("s", 10), user("u", 20)], {
        tools,
        estimator: memberEstimator(30),
      }),
      {
        reportedTokens: 0,
        trailingTokens: 60,
        heuristicTokens: 60,
        totalTokens: 60,
        lastUsageIndex: null,
        source: "estimated",
        usageBasedTokens: 60,
      },
    );
  },
);

test(
  "reported usage covers everything up to its answer",
  { case: "SE-B-07" },
  () => {
    assertEquals(
      estimateContextUsage([
        system("s", 10),
        withUsage(assistant("a", 10), 500),
        result("c", 30),
        user("u", 20),
      ], { tools, estimator: memberEstimator(40) }),
      {
        reportedTokens: 500,
        trailingTokens: 50,
        heuristicTokens: 110,
        totalTokens: 550,
        lastUsageIndex: 1,
        source: "mixed",
        usageBasedTokens: 550,
      },
    );
  },
);

test("usage below the plain estimate does not hide pressure", {
  case: "SE-B-08",
}, () => {
  const { usageBasedTokens, heuristicTokens, totalTokens, source } = estimate(
    withUsage(assistant("a", 200), 50),
  );
  assertEquals(
    [usageBasedTokens, heuristicTokens, totalTokens, source],
    [50, 200, 200, "mixed"],
  );
});

test(
  "usage that covers all is reported, not mixed",
  { case: "SE-B-09" },
  () => {
    const answer = withUsage(assistant("a", 5), 50);
    for (const messages of [[answer], [answer, user("u", 0)]]) {
      const { reportedTokens, trailingTokens, totalTokens, source } = estimate(
        ...messages,
      );
      assertEquals(
        [reportedTokens, trailingTokens, totalTokens, source],
        [50, 0, 50, "reported"],
      );
    }
    const larger = estimate(withUsage(assistant("a", 60), 50), user("u", 0));
    assertEquals([larger.totalTokens, larger.source], [60, "mixed"]);
  },
);

test("a reported zero is usage", { case: "SE-B-11" }, () => {
  const nothing = estimate(withUsage(assistant("a", 0), 0));
  assertEquals(
    [nothing.totalTokens, nothing.lastUsageIndex, nothing.source],
    [0, 0, "reported"],
  );
  const something = estimate(withUsage(assistant("a", 5), 0));
  assertEquals([something.totalTokens, something.source], [5, "mixed"]);
});

test("unusable usage is passed over towards the start", () => {
  const broken = [true, -1, 1.5, "9", undefined].map((total) => ({
    ...assistant("b", 1),
    usage: { total_tokens: total },
  } as unknown as AgentMessage));
  const found = estimate(
    withUsage(assistant("a", 1), 70),
    ...broken,
    withUsage(user("u", 1), 900),
  );
  assertEquals([found.lastUsageIndex, found.totalTokens], [0, 76]);
});

test(
  "an estimate that contradicts itself cannot be made",
  { case: "SE-B-12" },
  () => {
    const valid: ContextUsageEstimateInput = {
      reportedTokens: 2,
      trailingTokens: 3,
      heuristicTokens: 4,
      totalTokens: 5,
      lastUsageIndex: 0,
      source: "mixed",
    };
    assertEquals(contextUsageEstimate(valid), {
      ...valid,
      usageBasedTokens: 5,
    });
    const broken: Partial<ContextUsageEstimateInput>[] = [
      { heuristicTokens: 6 },
      { reportedTokens: 3 },
      { trailingTokens: -1, totalTokens: 9 },
      { lastUsageIndex: null },
      { lastUsageIndex: -1 },
    ];
    for (const members of broken) {
      assertThrows(
        () => contextUsageEstimate({ ...valid, ...members }),
        RangeError,
      );
    }
  },
);

test("an answer above the window is found before the next request", {
  case: "B42",
}, () => {
  const cutShort = withUsage(assistant("a", 60), 154_060);
  const policy = new CompactionPolicy({
    budget: new ContextBudget({
      contextWindow: 128_000,
      reserveTokens: 8_000,
      keepRecentTokens: 20_000,
    }),
  });
  const decision = policy.evaluate(estimate(user("u", 9), cutShort));
  assertEquals(
    [decision.shouldCompact, decision.reason, decision.pressureRatio > 1],
    [true, "threshold_reached", true],
  );
});

test("a built request is measured as it is sent, its usage read where it is kept", () => {
  const conversation = new Conversation([
    user("u", 10),
    withUsage(calling(["c"], 20), 400),
    user("no result came", 30),
  ]);
  const built = new AgentContextBuilder().build(conversation, { tools });
  const interruptedTokens = 7;
  const counting: MessageTokenEstimator = {
    estimateMessage: (message) =>
      Reflect.get(message, "_tokens") ?? interruptedTokens,
    estimateTools: (list) => 100 * list.length,
  };

  assertEquals(estimateContextUsage(built, { estimator: counting }), {
    reportedTokens: 400,
    trailingTokens: 37,
    heuristicTokens: 167,
    totalTokens: 437,
    lastUsageIndex: 1,
    source: "mixed",
    usageBasedTokens: 437,
  });
});

test("a hook that makes messages anew is followed by position, else not at all", () => {
  class Anew extends AgentContextBuilder {
    override convertToLlmMessages(messages: readonly AgentMessage[]) {
      return messages.map((message) => ({ ...message }));
    }
  }
  class Shorter extends Anew {
    override convertToLlmMessages(messages: readonly AgentMessage[]) {
      return super.convertToLlmMessages(messages).slice(1);
    }
  }
  const state = {
    messages: [
      user("u", 10),
      withUsage(assistant("a", 20), 400),
      user("v", 30),
    ],
  };
  const same = estimateContextUsage(new Anew().build(state), { estimator });
  assertEquals([same.lastUsageIndex, same.totalTokens], [1, 430]);
  const shorter = estimateContextUsage(new Shorter().build(state), {
    estimator,
  });
  assertEquals([shorter.lastUsageIndex, shorter.totalTokens], [null, 50]);
});

test(
  "usage of an answer that is not sent still counts",
  { case: "B42" },
  () => {
    const messages = [
      user("u", 10),
      withUsage(assistant("a", 20), 400),
      calling(["c"], 5),
      user("v", 30),
      withUsage(assistant("", 5), 900),
      user("w", 40),
    ];
    const built = new AgentContextBuilder().build({ messages });
    const found = estimateContextUsage(built, { estimator });
    assertEquals([found.lastUsageIndex, found.totalTokens], [4, 940]);
  },
);

test("over a growing conversation every message is measured once", () => {
  const seen: AgentMessage[] = [];
  const counting: MessageTokenEstimator = {
    estimateMessage(message) {
      seen.push(message);
      return 10;
    },
    estimateTools: () => 0,
  };
  const builder = new AgentContextBuilder();
  const conversation = new Conversation([system("s"), user("u")]);
  const reminder = system("r");
  for (let turn = 1; turn <= 50; turn++) {
    conversation.append(withUsage(calling([`c${turn}`]), 30 * turn));
    conversation.append(result(`c${turn}`));
    const built = builder.build(conversation, {
      transientMessages: [reminder],
    });
    const { heuristicTokens, trailingTokens } = estimateContextUsage(built, {
      estimator: counting,
    });
    assertEquals([heuristicTokens, trailingTokens], [30 + 20 * turn, 20]);
  }
  // The messages, and per turn the reminder and what follows the newest answer.
  assertEquals(seen.length, 102 + 50 + 2 * 50);
});

test("an earlier request keeps its estimate while the conversation grows", () => {
  const conversation = new Conversation([user("u", 10)]);
  const builder = new AgentContextBuilder();
  const early = builder.build(conversation);
  conversation.append(assistant("a", 100));
  const late = builder.build(conversation);

  assertEquals(estimateContextUsage(late, { estimator }).totalTokens, 110);
  assertEquals(estimateContextUsage(early, { estimator }).totalTokens, 10);
  const doubled = { ...estimator, estimateMessage: () => 1 };
  assertEquals(
    estimateContextUsage(late, { estimator: doubled }).totalTokens,
    2,
  );
});

test("an estimate never falls below its parts, and growing changes nothing", () => {
  const sum = (messages: readonly AgentMessage[]) =>
    messages.reduce(
      (total, message) => total + defaultEstimator.estimateMessage(message),
      0,
    );
  fc.assert(fc.property(fc.array(histories, { maxLength: 5 }), (pieces) => {
    const conversation = new Conversation();
    const builder = new AgentContextBuilder();
    for (const message of pieces.flat()) {
      conversation.append(message);
      const built = builder.build(conversation);
      const found = estimateContextUsage(built);
      assertEquals(found.heuristicTokens, sum(built.llmMessages));
      const covered = built.agentMessages.slice(
        0,
        (found.lastUsageIndex ?? -1) + 1,
      );
      const after = built.llmMessages.findLastIndex((sent) =>
        covered.includes(originOf(sent))
      ) + 1;
      assertEquals(found.trailingTokens, sum(built.llmMessages.slice(after)));
      assertEquals(
        found.totalTokens,
        Math.max(found.heuristicTokens, found.usageBasedTokens),
      );
      assertEquals(
        found,
        estimateContextUsage({
          ...built,
          llmMessages: [...built.llmMessages],
        }),
      );
    }
  }));
});

test("an estimator may not return nonsense", () => {
  const returning = (tokens: number) => () =>
    estimateContextUsage([user("u")], {
      estimator: { estimateMessage: () => tokens, estimateTools: () => 0 },
    });
  assertThrows(returning(-1), RangeError, "estimateMessage");
  assertThrows(returning(0.5), TypeError, "estimateMessage");
  assertThrows(returning(NaN), TypeError, "estimateMessage");
});
