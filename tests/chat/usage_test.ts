import type { ModelUsage } from "../../src/messages/usage.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { ask, startedAdapter } from "./adapters.ts";
import { answering, chunk, eventsOf } from "./bodies.ts";

test("token counts in a chunk of their own belong to the answer", {
  case: "X-172",
}, async () => {
  const { usage } = await usageOf(chunk({ content: "done" }, "stop"), {
    choices: [],
    usage: {
      prompt_tokens: 120,
      completion_tokens: 30,
      prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 12 },
    },
  });
  assertEquals(usage, {
    inputTokens: 120,
    outputTokens: 30,
    totalTokens: 150,
    cacheReadTokens: 40,
    cacheWriteTokens: 10,
    reasoningTokens: 12,
  });
});

test(
  "an impossible part is unknown, the answer stays",
  { case: "X-181" },
  async () => {
    const cached = await usageWith({
      prompt_tokens: 40,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 50, cache_write_tokens: -1 },
      completion_tokens_details: { reasoning_tokens: "many" },
    });
    assertEquals(cached.usage?.inputTokens, 40);
    assertEquals(cached.usage?.cacheReadTokens, null);
    assertEquals(cached.usage?.cacheWriteTokens, null);
    assertEquals(cached.usage?.reasoningTokens, null);
    assertEquals(cached.warnings, 0);
  },
);

test("reasoning that was counted beside the output is added to it", {
  case: "X-181",
}, async () => {
  const counts = { prompt_tokens: 10, completion_tokens: 5 };
  const details = { completion_tokens_details: { reasoning_tokens: 20 } };
  const beside = await usageWith({ ...counts, ...details, total_tokens: 35 });
  assertEquals([beside.usage?.outputTokens, beside.usage?.reasoningTokens], [
    25,
    20,
  ]);
  const odd = await usageWith({ ...counts, ...details, total_tokens: 15 });
  assertEquals([odd.usage?.outputTokens, odd.usage?.reasoningTokens], [
    5,
    null,
  ]);
});

test("an impossible main count makes all unknown, with a warning", {
  case: "X-181",
}, async () => {
  for (const prompt_tokens of [-1, 1.5, "7"]) {
    const { usage, warnings } = await usageWith({
      prompt_tokens,
      completion_tokens: 5,
    });
    assertEquals([usage, warnings], [null, 1]);
  }
});

test(
  "an object without counts is unknown, not zero",
  { case: "X-181" },
  async () => {
    for (const usage of [{}, { total_tokens: 7 }, { prompt_tokens: null }]) {
      assertEquals(await usageWith(usage), { usage: null, warnings: 0 });
    }
    const half = await usageWith({ completion_tokens: 5 });
    assertEquals([half.usage?.inputTokens, half.usage?.outputTokens], [0, 5]);
  },
);

test(
  "of running totals the last one counts",
  { case: ["X-181", "B36"] },
  async () => {
    const total = (count: number) => ({
      prompt_tokens: 10,
      completion_tokens: count,
    });
    const { usage } = await usageOf(
      { ...chunk({ content: "a" }) as object, usage: total(1) },
      { ...chunk({ content: "b" }, "stop") as object, usage: total(3) },
      { choices: [], usage: {} },
      { choices: [], usage: null },
    );
    assertEquals([usage?.inputTokens, usage?.outputTokens], [10, 3]);
  },
);

test("counts inside the choice are used if there are no others", async () => {
  const inside = (count: number) => ({
    choices: [{
      delta: { content: "a" },
      finish_reason: "stop",
      usage: { prompt_tokens: count },
    }],
  });
  assertEquals((await usageOf(inside(4))).usage?.inputTokens, 4);
  const { usage } = await usageOf(
    { choices: [], usage: { prompt_tokens: 7 } },
    inside(4),
  );
  assertEquals(usage?.inputTokens, 7);
});

test("cache hits are also read where DeepSeek reports them", async () => {
  const { usage } = await usageWith({
    prompt_tokens: 10,
    completion_tokens: 1,
    prompt_cache_hit_tokens: 6,
  });
  assertEquals(usage?.cacheReadTokens, 6);
});

interface Counted {
  readonly usage: ModelUsage | null | undefined;
  readonly warnings: number;
}

function usageWith(usage: object): Promise<Counted> {
  return usageOf(chunk({ content: "x" }, "stop"), { choices: [], usage });
}

async function usageOf(...chunks: readonly unknown[]): Promise<Counted> {
  const logger = new RecordingLogger();
  const adapter = await startedAdapter({
    fetch: answering(eventsOf(...chunks)),
    logger,
  });
  const { completed } = await ask(adapter);
  return { usage: completed?.usage, warnings: logger.warnings.length };
}
