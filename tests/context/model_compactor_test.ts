import { Cancellation } from "../../src/base/abort.ts";
import { CompactionPolicy, ContextBudget } from "../../src/context/budget.ts";
import { AgentContextBuilder } from "../../src/context/builder.ts";
import type {
  CompactionEvent,
  CompactionRequest,
} from "../../src/context/compaction.ts";
import { CompactionRuntime } from "../../src/context/compaction_runtime.ts";
import { Conversation } from "../../src/context/conversation.ts";
import {
  ModelCompactor,
  type ModelCompactorOptions,
} from "../../src/context/model_compactor.ts";
import { prepareCompaction } from "../../src/context/prepare.ts";
import {
  type AgentMessage,
  type AssistantMessage,
  assistantMessage,
} from "../../src/messages/message.ts";
import { type ModelUsage, modelUsage } from "../../src/messages/usage.ts";
import type {
  ContextBuildResult,
  ModelAdapter,
  ModelResponse,
} from "../../src/model/adapter.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { countingIds, silentLogger } from "../../src/testing/ports.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import {
  assistant,
  calling,
  memberEstimator,
  outline,
  result,
  user,
} from "./messages.ts";
import { complaintsAbout } from "./transcript.ts";

const estimator = memberEstimator();
const builder = new AgentContextBuilder();

function unaborted(): AbortSignal {
  return new AbortController().signal;
}

/** A model that gives these answers in turn and remembers what it was asked. */
function scripted(...answers: (ModelResponse | AssistantMessage | string)[]) {
  const asked: ContextBuildResult[] = [];
  const model: ModelAdapter = {
    complete(context) {
      asked.push(context);
      const answer = answers[asked.length - 1] ?? "more";
      return Promise.resolve(
        typeof answer === "string" ? assistantMessage(answer) : answer,
      );
    },
  };
  return { asked, model };
}

function compactorOver(
  model: ModelAdapter,
  options: Partial<ModelCompactorOptions> = {},
): ModelCompactor {
  return new ModelCompactor({
    model,
    source: " small-model ",
    contextBuilder: ({ preparation }) =>
      builder.build({ messages: preparation.messagesToSummarize }),
    estimator,
    ...options,
  });
}

function requestFor(messages: readonly AgentMessage[]): CompactionRequest {
  const preparation = prepareCompaction([...messages, user("last", 1)], {
    keepRecentTokens: 1,
    estimator,
  });
  return {
    operationId: "operation",
    trigger: "explicit",
    preparation,
    previousSummary: null,
    previousSummaries: [],
  };
}

const simple = requestFor([user("u1", 10), assistant("a1", 10)]);

function usage(input: number, cached: number | null = null): ModelUsage {
  return modelUsage({
    inputTokens: input,
    outputTokens: 1,
    cacheReadTokens: cached,
  });
}

test(
  "the model's answer becomes the summary",
  { case: "SE-E-15" },
  async () => {
    const { asked, model } = scripted({
      message: assistantMessage("  concise  ", [
        { id: "c", name: "ignored", arguments: "{}" },
      ]),
      usage: usage(30),
    });
    assertEquals(
      await compactorOver(model).compact(simple, { signal: unaborted() }),
      { content: "concise", source: "small-model", usage: usage(30) },
    );
    assertEquals(asked.map(({ llmMessages }) => outline(llmMessages)), [
      "u:u1 a:a1",
    ]);

    const bare = scripted("bare");
    assertEquals(
      await compactorOver(bare.model).compact(simple, { signal: unaborted() }),
      { content: "bare", source: "small-model", usage: null },
    );
  },
);

test("an answer without content is an error", { case: "SE-E-15" }, async () => {
  for (const content of [null, "", " \n "]) {
    const { model } = scripted(assistantMessage(content));
    const error = await assertRejects(
      () => compactorOver(model).compact(simple, { signal: unaborted() }),
      Error,
      "empty content",
    );
    assertEquals((error as { code?: string }).code, "compaction_failed");
  }
  const { model } = scripted({} as ModelResponse);
  await assertRejects(
    () => compactorOver(model).compact(simple, { signal: unaborted() }),
    Error,
    "no assistant message",
  );
});

test("a context builder that builds no context is an error", {
  case: "SE-E-15",
}, async () => {
  const { asked, model } = scripted();
  const compactor = compactorOver(model, {
    contextBuilder: () => ["not a context"] as unknown as ContextBuildResult,
  });
  await assertRejects(
    () => compactor.compact(simple, { signal: unaborted() }),
    TypeError,
    "contextBuilder",
  );
  assertEquals(asked, []);
});

test("after an abort nobody is asked", { case: "SE-E-15" }, async () => {
  const { asked, model } = scripted();
  let built = 0;
  const controller = new AbortController();
  const compactor = compactorOver(model, {
    contextBuilder: ({ preparation }) => {
      built++;
      controller.abort("enough");
      return builder.build({ messages: preparation.messagesToSummarize });
    },
  });
  const { signal } = controller;
  await assertRejects(
    () => compactor.compact(simple, { signal }),
    Error,
    "enough",
  );
  assertEquals([built, asked.length], [1, 0]);
  await assertRejects(
    () => compactor.compact(simple, { signal }),
    Error,
    "enough",
  );
  assertEquals([built, asked.length], [1, 0]);
});

test("an answer that comes after an abort is not used", async () => {
  const controller = new AbortController();
  const compactor = compactorOver({
    complete() {
      controller.abort("enough");
      return Promise.resolve(assistantMessage("late"));
    },
  });
  await assertRejects(
    () => compactor.compact(simple, { signal: controller.signal }),
    Error,
    "enough",
  );
});

test("it is checked when it is made", { case: "SE-E-15" }, () => {
  const { model } = scripted();
  const make = (options: object) => () =>
    compactorOver(model, options as Partial<ModelCompactorOptions>);
  assertThrows(make({ source: "  " }), RangeError, "source");
  assertThrows(make({ source: 1 }), TypeError, "source");
  assertThrows(make({ model: {} }), TypeError, "complete");
  assertThrows(make({ contextBuilder: {} }), TypeError, "contextBuilder");
  assertThrows(make({ maxInputTokens: 0 }), RangeError, "maxInputTokens");
});

test("input that is too large is summarised piece by piece", {
  case: "B44",
}, async () => {
  const exchange = [calling(["a", "b"], 10), result("a", 10), result("b", 10)];
  const request = requestFor([
    user("u1", 20),
    ...exchange,
    assistant("a1", 10),
    user("u2", 25),
    assistant("a2", 25),
  ]);
  const { asked, model } = scripted(
    { message: assistantMessage("one"), usage: usage(10, 4) },
    { message: assistantMessage("two"), usage: usage(20, 5) },
    { message: assistantMessage("three"), usage: usage(30) },
    "four",
  );
  const seen: CompactionRequest[] = [];
  const compactor = compactorOver(model, {
    maxInputTokens: 45,
    contextBuilder(piece) {
      seen.push(piece);
      const { messagesToSummarize } = piece.preparation;
      return builder.build({ messages: messagesToSummarize });
    },
  });
  const output = await compactor.compact(request, { signal: unaborted() });

  assertEquals(
    output,
    {
      content: "four",
      source: "small-model",
      usage: modelUsage({ inputTokens: 60, outputTokens: 3 }),
    },
  );
  assertEquals(
    seen.map((piece) => [
      outline(piece.preparation.messagesToSummarize),
      piece.previousSummary?.content ?? null,
      piece.previousSummary?.summarizedMessageCount ?? 0,
    ]),
    [
      ["u:u1", null, 0],
      ["a: t:did a t:did b a:a1", "one", 1],
      ["u:u2", "two", 5],
      ["a:a2", "three", 6],
    ],
  );
  for (const { llmMessages } of asked) {
    assertEquals(complaintsAbout(llmMessages), []);
  }
});

test("the summary so far counts towards the next piece", {
  case: "B44",
}, async () => {
  const request = requestFor([user("u1", 40), user("u2", 30), user("u3", 20)]);
  const { asked, model } = scripted("one", "two");
  // A summary has no `_tokens`, so here each costs 15.
  const heavy = {
    ...estimator,
    estimateMessage: (message: AgentMessage) =>
      "_ejagent_summary" in message ? 15 : estimator.estimateMessage(message),
  };
  const compactor = compactorOver(model, {
    maxInputTokens: 64,
    estimator: heavy,
  });
  await compactor.compact(request, { signal: unaborted() });
  assertEquals(asked.map(({ llmMessages }) => outline(llmMessages)), [
    "u:u1",
    "u:u2",
    "u:u3",
  ]);
});

test(
  "a single exchange that is too large fails the compaction and nothing else",
  {
    case: "B44",
  },
  async () => {
    const history = [
      user("u1", 10),
      calling(["a"], 10),
      result("a", 500),
      user("u2", 10),
    ];
    const conversation = new Conversation(history);
    const events: CompactionEvent[] = [];
    const runtime = new CompactionRuntime({
      conversation,
      policy: new CompactionPolicy({
        budget: new ContextBudget({
          contextWindow: 1000,
          reserveTokens: 0,
          keepRecentTokens: 10,
        }),
      }),
      estimator,
      ids: countingIds(),
      emit: (event) => void events.push(event),
    });
    const { model, asked } = scripted();
    const failed = await runtime.compact({
      compactor: compactorOver(model, { maxInputTokens: 100 }),
      trigger: "overflow",
      cancellation: new Cancellation({
        clock: new ManualClock(),
        graceMs: 0,
        logger: silentLogger,
      }),
    });

    assertEquals(failed.status, "failed");
    assert(failed.error?.includes("maxInputTokens"));
    assertEquals(events.at(-1), { kind: "compaction_failed", result: failed });
    assertEquals(conversation.messages, history);
    assertEquals(asked.map(({ llmMessages }) => outline(llmMessages)), [
      "u:u1",
    ]);
  },
);
