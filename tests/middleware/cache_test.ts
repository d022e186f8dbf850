import type { ContextProvider, DefinedTool, ModelResponse } from "../../mod.ts";
import {
  cacheModel,
  type ModelCacheStore,
  requestKey,
} from "../../src/middleware/mod.ts";
import {
  answer,
  calls,
  RecordingLogger,
  ScriptedModel,
  text,
} from "../../src/testing/mod.ts";
import {
  agentWith,
  done,
  echo,
  type FixtureOptions,
} from "../agent/fixtures.ts";
import { assertEquals, assertMatch, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { textDeltas } from "./fixtures.ts";

test("an answer is found again and costs nothing", async () => {
  const usage = { inputTokens: 9, outputTokens: 3 };
  const model = new ScriptedModel([text("Paris", { usage })]);
  const cache = cacheModel({ store: new Map() });
  const ask = async () => {
    const { agent, sink } = agentWith([], { model, middleware: [cache] });
    const result = await agent.run("Capital?");
    return { result, sink };
  };
  const first = await ask();
  const second = await ask();
  assertEquals(second.result.output, "Paris");
  assertEquals(model.requests.length, 1);
  assertEquals(
    [first, second].map(({ result }) => result.usage.requestCount),
    [1, 0],
  );
  assertEquals(textDeltas(second.sink.events), ["Paris"]);
  const completed = await second.sink.first("message_completed");
  assertEquals(completed.usage, null);
});

test("calls that were cached are executed anew", async () => {
  const model = new ScriptedModel([calls(["echo"]), text("done")]);
  const cache = cacheModel({ store: new Map() });
  for (const _ of [1, 2]) {
    const { agent, sink } = agentWith([], {
      model,
      tools: [echo],
      middleware: [cache],
    });
    assertEquals((await agent.run("t")).output, "done");
    assertEquals(
      sink.kinds.filter((kind) => kind === "tool_completed").length,
      1,
    );
  }
  assertEquals(model.requests.length, 2);
});

test("what is kept is plain data without what must not outlive the exchange", async () => {
  const kept: ModelResponse[] = [];
  const store: ModelCacheStore = {
    get: () => undefined,
    set: (_key, response) => kept.push(response),
  };
  const message = {
    content: "hi",
    toolCalls: [],
    providerData: { signature: "s" },
    replay: { reasoning_content: "hm" },
  };
  const { agent } = agentWith([answer(message)], {
    middleware: [cacheModel({ store })],
  });
  await agent.run("t");
  const { replay: _, ...rest } = message;
  assertEquals(kept, [{ message: rest, usage: null, finishReason: "stop" }]);
  assertEquals(JSON.parse(JSON.stringify(kept)), kept);
});

test("the key follows from what the provider would see, in any order of keys", async () => {
  const keys: string[] = [];
  const remember = cacheModel({
    store: new Map(),
    key: async (request) => {
      keys.push(await requestKey(request));
      return null;
    },
  });
  const ask = async (
    task: string,
    modelOptions: Record<string, number>,
    options: FixtureOptions = {},
  ) => {
    const { agent } = agentWith([text("ok")], {
      ...options,
      middleware: [remember],
    });
    await agent.run(task, { modelOptions });
  };
  await ask("t", { temperature: 0, top_p: 1 });
  await ask("t", { top_p: 1, temperature: 0 });
  await ask("u", { top_p: 1, temperature: 0 });
  await ask("t", { top_p: 1, temperature: 1 });
  const target = { provider: "another" };
  await ask("t", { temperature: 0, top_p: 1 }, {
    model: new ScriptedModel([text("ok")], { target }),
  });
  await ask("t", { temperature: 0, top_p: 1 }, {
    contextProviders: [offering(echo)],
  });
  await ask("t", { temperature: 0, top_p: 1 }, {
    contextProviders: [offering(done)],
  });
  assertMatch(keys[0]!, /^[0-9a-f]{64}$/);
  assertEquals(keys[1], keys[0]);
  assertEquals(new Set(keys).size, keys.length - 1);
});

test("a request can be left out of the cache", async () => {
  const store = new Map<string, ModelResponse>();
  const { agent, model } = agentWith([text("one"), text("two")], {
    middleware: [
      cacheModel({
        store,
        key: ({ turn, context }) =>
          turn === 1 && context.llmMessages.length > 2 ? null : "first",
      }),
    ],
  });
  await agent.run("t");
  await agent.run("u");
  assertEquals([model.requests.length, [...store.keys()]], [2, ["first"]]);
});

test("a store that fails costs no more than the cache", async () => {
  const logger = new RecordingLogger();
  const store: ModelCacheStore = {
    get: () => Promise.reject(new Error("no disk")),
    set: () => {
      throw new Error("disk full");
    },
  };
  const { agent } = agentWith([text("ok")], {
    middleware: [cacheModel({ store, logger })],
  });
  assertEquals((await agent.run("t")).output, "ok");
  assertEquals(logger.warnings, [
    {
      message: "A model cache could not be read",
      details: { error: "no disk" },
    },
    {
      message: "A model cache could not keep an answer",
      details: { error: "disk full" },
    },
  ]);
});

test("a store must be able to get and set", () => {
  assertThrows(
    () => cacheModel({ store: {} as ModelCacheStore }),
    TypeError,
    "get()",
  );
  assertThrows(
    () => cacheModel(undefined as never),
    TypeError,
    "The options of cacheModel() must be an object",
  );
});

function offering(tool: DefinedTool): ContextProvider {
  return { sourceId: "p", beforeRun: (run) => run.extendTools(tool) };
}
