import { Cancellation } from "../../src/base/abort.ts";
import { CompactionPolicy, ContextBudget } from "../../src/context/budget.ts";
import type {
  CompactionEvent,
  CompactionRequest,
  CompactionResult,
  CompactorOutput,
} from "../../src/context/compaction.ts";
import {
  type CompactionOrder,
  CompactionRuntime,
} from "../../src/context/compaction_runtime.ts";
import { Conversation } from "../../src/context/conversation.ts";
import { summaryMessage } from "../../src/context/summary.ts";
import {
  type AgentMessage,
  assistantMessage,
  replayOf,
  toAgentMessage,
} from "../../src/messages/message.ts";
import { modelUsage } from "../../src/messages/usage.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { countingIds, silentLogger } from "../../src/testing/ports.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import {
  assistant,
  calling,
  marked,
  memberEstimator,
  outline,
  result,
  system,
  user,
  withUsage,
} from "./messages.ts";

interface Bench {
  readonly conversation: Conversation;
  readonly runtime: CompactionRuntime;
  readonly events: CompactionEvent[];
  readonly cancellation: Cancellation;
  /** Compacts with an answer or with a function that is the compactor. */
  compact(
    answer:
      | string
      | ((
        request: CompactionRequest,
        signal: AbortSignal,
      ) => CompactorOutput | Promise<CompactorOutput>),
    order?: Partial<CompactionOrder>,
  ): Promise<CompactionResult>;
}

function bench(
  messages: readonly AgentMessage[],
  keepRecentTokens: number,
  emit: (event: CompactionEvent) => void | Promise<void> = () => {},
): Bench {
  const systemCount = messages[0]?.role === "system" ? 1 : 0;
  const conversation = new Conversation(messages, systemCount);
  const events: CompactionEvent[] = [];
  const cancellation = new Cancellation({
    clock: new ManualClock(),
    graceMs: 1000,
    logger: silentLogger,
  });
  const runtime = new CompactionRuntime({
    conversation,
    policy: new CompactionPolicy({
      budget: new ContextBudget({
        contextWindow: 100_000,
        reserveTokens: 0,
        keepRecentTokens,
      }),
    }),
    ids: countingIds("operation"),
    estimator: memberEstimator(),
    emit: async (event) => {
      events.push(event);
      await emit(event);
    },
  });
  return {
    conversation,
    runtime,
    events,
    cancellation,
    compact: (answer, order = {}) =>
      runtime.compact({
        compactor: {
          compact: (request, { signal }) =>
            typeof answer === "string"
              ? { content: answer, source: "test" }
              : answer(request, signal),
        },
        trigger: "explicit",
        cancellation,
        ...order,
      }),
  };
}

function turn(name: string, tokens = 10): AgentMessage[] {
  return [user(`u${name}`, tokens), assistant(`a${name}`, tokens)];
}

const prompt = system("prompt");

test("old messages give way to a summary", { case: "SE-E-02" }, async () => {
  const { conversation, compact, events } = bench([
    prompt,
    user("u1", 100),
    calling(["c"], 10),
    result("c", 100),
    assistant("a1", 10),
    user("u2", 30),
    assistant("a2", 30),
  ], 50);
  const compacted = await compact("sum");

  assert(compacted.status === "completed");
  assertEquals(compacted.summary.toJSON(), {
    content: "sum",
    source: "test",
    history_start_index: 1,
    first_kept_index: 5,
    summarized_message_count: 4,
    tokens_before: 280,
  });
  const installed = [
    summaryMessage(compacted.summary),
    user("u2", 30),
    assistant("a2", 30),
  ];
  assertEquals(compacted.messages, installed);
  assertEquals(conversation.messages, [prompt, ...installed]);
  assertEquals(conversation.systemCount, 1);
  assertEquals(
    events.map((event) => event.kind),
    ["compaction_started", "compaction_completed"],
  );
  const [started] = events;
  assert(started?.kind === "compaction_started");
  assertEquals(started.request.trigger, "explicit");
  assertEquals(started.request.operationId, "operation-1");
  assertEquals(compacted.operationId, "operation-1");
  assertStrictEquals(compacted.preparation, started.request.preparation);
});

test("a compactor that fails leaves the history alone", {
  case: "SE-E-03",
}, async () => {
  const history = [prompt, ...turn("1"), ...turn("2")];
  const { conversation, compact, events } = bench(history, 10);
  const cause = new Error("summary provider failed");
  const failed = await compact(() => Promise.reject(cause));

  assertEquals(
    [failed.status, failed.error, failed.summary, failed.messages],
    ["failed", "summary provider failed", null, null],
  );
  assertStrictEquals((failed as { cause?: unknown }).cause, cause);
  assert(!Object.keys(failed).includes("cause"));
  assertEquals(conversation.messages, history);
  assertEquals(events.map((event) => event.kind), [
    "compaction_started",
    "compaction_failed",
  ]);
});

test("a failure always has a text", async () => {
  const { compact } = bench([...turn("1"), ...turn("2")], 10);
  const texts = [];
  for (
    const cause of [new Error(""), new RangeError(" "), "thrown", undefined]
  ) {
    texts.push((await compact(() => Promise.reject(cause))).error);
  }
  assertEquals(texts, ["Error", "RangeError", "thrown", "undefined"]);
});

test("an abort ends the wait for the compactor", {
  case: "SE-E-04",
}, async () => {
  const history = [...turn("1"), ...turn("2")];
  const { conversation, compact, cancellation, events } = bench(history, 10);
  const waiting = deferred();
  const cleaned = deferred();
  const pending = compact((_request, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        cleaned.resolve();
        reject(signal.reason);
      });
      waiting.resolve();
    })
  );
  await waiting.promise;
  cancellation.abort("stop compaction");
  const cancelled = await pending;
  await cleaned.promise;

  assertEquals(
    [cancelled.status, cancelled.error],
    ["cancelled", "stop compaction"],
  );
  assertEquals(conversation.messages, history);
  assertEquals(events.at(-1), { kind: "compaction_failed", result: cancelled });
  cancellation.close();
});

test("a cancellation that nobody asked for is a failure", async () => {
  const { compact } = bench([...turn("1"), ...turn("2")], 10);
  const failed = await compact(() =>
    Promise.reject(new DOMException("aborted by itself", "AbortError"))
  );
  assertEquals(
    [failed.status, failed.error],
    ["failed", "aborted by itself"],
  );
});

test("an answer that comes with an abort is not used", async () => {
  const history = [...turn("1"), ...turn("2")];
  const { conversation, compact, cancellation } = bench(history, 10);
  const cancelled = await compact(() => {
    cancellation.abort("too late");
    return { content: "sum", source: "test" };
  });
  assertEquals([cancelled.status, cancelled.error], ["cancelled", "too late"]);
  assertEquals(conversation.messages, history);
  cancellation.close();
});

test("with nothing to summarise nobody is asked", {
  case: "SE-E-05",
}, async () => {
  const { conversation, compact, events } = bench(turn("1"), 10);
  const skipped = await compact(() => {
    throw new Error("asked");
  });

  assertEquals(
    [skipped.status, skipped.error, skipped.summary, skipped.messages],
    ["skipped", null, null, null],
  );
  assertEquals(conversation.generation, 0);
  assertEquals(events.map((event) => event.kind), [
    "compaction_started",
    "compaction_completed",
  ]);
});

test("the next summary takes the place of the last", {
  case: "SE-E-06",
}, async () => {
  const { conversation, compact } = bench([
    prompt,
    ...turn("1"),
    ...turn("2"),
    ...turn("3"),
  ], 20);
  assertEquals((await compact("first")).summary?.summarizedMessageCount, 4);
  for (const message of [...turn("4"), ...turn("5")]) {
    conversation.append(message);
  }
  const requests: CompactionRequest[] = [];
  const merged = await compact((request) => {
    requests.push(request);
    return { content: "merged", source: "test" };
  });

  assertEquals(requests[0]?.previousSummary?.content, "first");
  assertEquals(requests[0]?.preparation.messagesToSummarize.length, 4);
  assertEquals(merged.summary?.summarizedMessageCount, 8);
  assertEquals(
    conversation.messages.filter((message) => "_ejagent_summary" in message)
      .length,
    1,
  );
  assertEquals(
    conversation.at(1)?.content?.toString().endsWith("merged"),
    true,
  );
});

test("all earlier summaries are handed over, also a former one", async () => {
  const wire = {
    source: "s",
    history_start_index: 0,
    first_kept_index: 9,
    summarized_message_count: 9,
    tokens_before: 9,
  };
  const summaries = [
    marked(system("1"), { _simagentplg_summary: { ...wire, content: "one" } }),
    marked(system("2"), { _ejagent_summary: { ...wire, content: "two" } }),
  ];
  const broken = marked(system("kept"), { _ejagent_summary: {} });
  const { conversation, compact } = bench([
    prompt,
    ...summaries,
    broken,
    ...turn("1"),
    ...turn("2"),
  ], 10);
  let previous: CompactionRequest | undefined;
  const compacted = await compact((request) => {
    previous = request;
    return { content: "all", source: "test" };
  });

  assertEquals(previous?.previousSummaries.map(({ content }) => content), [
    "one",
    "two",
  ]);
  assertEquals(previous?.previousSummary?.content, "two");
  assertEquals(compacted.summary?.summarizedMessageCount, 20);
  assertEquals(
    outline(conversation.messages),
    "s:prompt s:kept s:Conversation summary from earlier turns:\n\nall u:u2 a:a2",
  );
});

test("protected conversation is part of what a session stores", {
  case: "SE-E-07",
}, async () => {
  const protectedPart = [...turn("1"), system("barrier")];
  const { compact } = bench([
    ...protectedPart,
    ...turn("2"),
    ...turn("3"),
  ], 10);
  const { messages } = await compact("sum");
  assertEquals(messages?.slice(0, 3), protectedPart);
  assertEquals(messages?.[3]?.role, "system");
  assertEquals(outline(messages?.slice(4) ?? []), "u:u3 a:a3");
});

test("system messages of the application are stored, those of the agent are not", async () => {
  const { compact } = bench([
    prompt,
    system("by the application"),
    ...turn("1"),
    ...turn("2"),
  ], 10);
  const { messages } = await compact("sum");
  assertEquals(messages?.[0], system("by the application"));
});

test("a history that changes meanwhile is not overwritten", {
  case: "SE-E-12",
}, async () => {
  const history = [...turn("1"), ...turn("2")];
  const { conversation, compact } = bench(history, 10);
  const added = user("meanwhile");
  const failed = await compact(() => {
    conversation.append(added);
    return { content: "sum", source: "test" };
  });

  assertEquals(failed.status, "failed");
  assert(failed.error?.includes("changed during compaction"));
  assertEquals(conversation.messages, [...history, added]);

  const replaced = await compact(() => {
    conversation.replace(conversation.messages);
    return { content: "sum", source: "test" };
  });
  assertEquals(replaced.status, "failed");
});

test("what a compactor returns is checked", async () => {
  const history = [...turn("1"), ...turn("2")];
  const { conversation, compact } = bench(history, 10);
  const answers = [
    null,
    "text",
    {},
    { content: " ", source: "s" },
    { content: "c", source: "" },
  ];
  for (const answer of answers) {
    const failed = await compact(() => answer as unknown as CompactorOutput);
    assertEquals(failed.status, "failed");
  }
  assertEquals(conversation.messages, history);
});

test("an abort after the replacement comes too late", async () => {
  const box: { cancellation?: Cancellation } = {};
  const { conversation, compact, cancellation } = bench(
    [...turn("1"), ...turn("2")],
    10,
    ({ kind }) => {
      if (kind === "compaction_completed") box.cancellation?.abort("late");
    },
  );
  box.cancellation = cancellation;
  assertEquals((await compact("sum")).status, "completed");
  assertEquals(conversation.length, 3);
  cancellation.close();
});

test("an abort while the start is reported ends it before the compactor", async () => {
  const box: { cancellation?: Cancellation } = {};
  const { compact, cancellation, events } = bench(
    [...turn("1"), ...turn("2")],
    10,
    ({ kind }) => {
      if (kind === "compaction_started") box.cancellation?.abort("early");
    },
  );
  box.cancellation = cancellation;
  let asked = false;
  const cancelled = await compact(() => {
    asked = true;
    return { content: "sum", source: "test" };
  });
  assertEquals([cancelled.status, asked], ["cancelled", false]);
  assertEquals(events.at(-1)?.kind, "compaction_failed");
  cancellation.close();
});

test("who reports the events may stop everything", async () => {
  const history = [...turn("1"), ...turn("2")];
  const { conversation, compact } = bench(history, 10, () => {
    throw new Error("no disk");
  });
  await assertRejects(() => compact("sum"), Error, "no disk");
  assertEquals(conversation.messages, history);
});

test("kept messages lose the usage of the long history and nothing else", async () => {
  const answer = toAgentMessage(
    {
      ...assistantMessage("a2"),
      providerData: { signature: "s" },
      replay: { reasoning_content: "because" },
    },
    modelUsage({ inputTokens: 900, outputTokens: 100 }),
  );
  const { conversation, compact } = bench([
    withUsage(assistant("a0", 10), 900),
    system("barrier"),
    ...turn("1"),
    user("u2", 10),
    answer,
  ], 10);
  const { messages } = await compact("sum");

  const { usage: _, ...rest } = answer;
  const kept = conversation.at(-1)!;
  assertEquals(kept, rest);
  assertEquals(replayOf(kept), { reasoning_content: "because" });
  assertEquals(messages?.some((message) => "usage" in message), false);
});

test("what a compactor spends is in the result, also of a failure", async () => {
  const usage = modelUsage({ inputTokens: 70, outputTokens: 5 });
  const { compact } = bench([...turn("1"), ...turn("2"), ...turn("3")], 10);
  const failed = await compact(() => ({ content: "", source: "s", usage }));
  assertEquals([failed.status, failed.usage], ["failed", usage]);
  const done = await compact(() => ({ content: "c", source: "s", usage }));
  assertEquals([done.status, done.usage], ["completed", usage]);
});

test("pressure without anything to summarise is reported once for each cut", async () => {
  const { conversation, compact, events, runtime } = bench(turn("1"), 1000);
  const pressure = { trigger: "pressure" } as const;
  for (let turnNumber = 0; turnNumber < 3; turnNumber++) {
    assertEquals((await compact("", pressure)).status, "skipped");
    conversation.append(assistant("more", 10));
  }
  assertEquals(events.length, 2);
  assertEquals(runtime.prepare().canCompact, false);

  await compact("", { trigger: "overflow" });
  assertEquals(events.length, 4);
  conversation.replace([prompt, ...turn("1")], 1);
  await compact("", pressure);
  assertEquals(events.length, 6);
});

test("a preparation of before is used as long as it fits", async () => {
  const { conversation, compact, runtime, events } = bench([
    ...turn("1"),
    ...turn("2"),
    ...turn("3"),
  ], 10);
  const preparation = runtime.prepare();
  const first = await compact(() => Promise.reject(new Error("no")), {
    preparation,
  });
  assertStrictEquals(first.preparation, preparation);

  conversation.append(user("u4", 10));
  const second = await compact("sum", { preparation });
  assert(second.preparation !== preparation);
  assertEquals(second.status, "completed");
  assertEquals(events.length, 4);
  assertEquals(outline(conversation.slice(1)), "u:u4");
});
