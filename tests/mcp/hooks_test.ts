import type { McpToolHandlerOptions } from "../../src/mcp/mod.ts";
import {
  assert,
  assertEquals,
  assertStringIncludes,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { texts } from "./fake_server.ts";
import { startedDemo } from "./kit.ts";

/** What a server gets when it asks something in the middle of a call. */
async function answerTo(
  method: string,
  params: Record<string, unknown>,
  options: Partial<McpToolHandlerOptions> = {},
): Promise<{ readonly answer: unknown; readonly announced: unknown }> {
  let answer: unknown;
  const { handler, server } = await startedDemo({
    call: async ({ ask }) => {
      answer = await ask(method, params).catch(String);
      return texts("settled");
    },
  }, options);
  assertEquals((await handler.dispatch("demo__lookup", {})).data, "settled");
  const announced = server.handshakes[0]?.capabilities;
  await handler.shutdown();
  return { answer, announced };
}

const form = {
  message: "Who?",
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string" },
      place: { type: "string", default: "here" },
    },
  },
};

test(
  "a server may ask the user if there is a hook",
  { case: "TL-153" },
  async () => {
    const without = await answerTo("elicitation/create", form);
    assertStringIncludes(String(without.answer), "Method not found");
    assertEquals(without.announced, {});

    const asked: unknown[] = [];
    const accepting = await answerTo("elicitation/create", form, {
      onElicit: ({ message, mode }, { server, signal }) => {
        asked.push([message, mode, server, signal.aborted]);
        return { action: "accept", content: { name: "x" } };
      },
    });
    assertEquals(accepting.answer, {
      action: "accept",
      content: { name: "x", place: "here" },
    });
    assertEquals(asked, [["Who?", "form", "demo", false]]);
    assertEquals(accepting.announced, {
      elicitation: { form: { applyDefaults: true } },
    });
  },
);

test("a hook that throws answers with an error", async () => {
  const { answer } = await answerTo("elicitation/create", form, {
    onElicit: () => {
      throw new Error("nobody is here");
    },
  });
  assertStringIncludes(String(answer), "nobody is here");
});

test("addresses are shown only by hooks that say so", async () => {
  const visit = {
    mode: "url",
    message: "Sign in",
    url: "https://a.example/",
    elicitationId: "e1",
  };
  const onElicit = () => ({ action: "decline" }) as const;
  const refused = await answerTo("elicitation/create", visit, { onElicit });
  assertStringIncludes(String(refused.answer), "does not support URL-mode");
  const shown = await answerTo("elicitation/create", visit, {
    onElicit,
    elicitModes: ["url"],
  });
  assertEquals(shown.answer, { action: "decline" });
  assertEquals(shown.announced, { elicitation: { url: {} } });
});

test("a server may ask a model if there is a hook", async () => {
  const content = { type: "text", text: "Hello" };
  const request = { messages: [{ role: "user", content }], maxTokens: 10 };
  const { answer, announced } = await answerTo(
    "sampling/createMessage",
    request,
    {
      onSample: ({ messages, maxTokens }) => ({
        model: "m",
        role: "assistant",
        content: { type: "text", text: `${messages.length} ${maxTokens}` },
      }),
    },
  );
  assertEquals(answer, {
    model: "m",
    role: "assistant",
    content: { type: "text", text: "1 10" },
  });
  assertEquals(announced, { sampling: {} });
});

test("a server may ask for the places it may work in", async () => {
  const roots = [{ uri: "file:///project", name: "project" }];
  const { answer, announced } = await answerTo("roots/list", {}, { roots });
  assertEquals(answer, { roots });
  assertEquals(announced, { roots: {} });
});

test("a server that floods a hook is refused what is too much", async () => {
  const release = deferred();
  let askedCount = 0;
  const { handler } = await startedDemo({
    call: async ({ ask }) => {
      const asked = Array.from(
        { length: 100 },
        () => ask("sampling/createMessage", { messages: [], maxTokens: 1 }),
      );
      const ends = await Promise.allSettled(asked);
      return texts(
        `${ends.filter(({ status }) => status === "rejected").length} refused`,
      );
    },
  }, {
    onSample: async () => {
      askedCount += 1;
      await release.promise;
      const content = { type: "text", text: "Hello" };
      return { model: "m", role: "assistant", content };
    },
  });
  const call = handler.dispatch("demo__lookup", {});
  await settle();
  assertEquals(askedCount, 64);
  release.resolve();
  assertEquals((await call).data, "36 refused");
  await handler.dispatch("demo__lookup", {});
  assert(askedCount >= 128, `${askedCount} were asked`);
  await handler.shutdown();
});
