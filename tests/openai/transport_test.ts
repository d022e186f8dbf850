import OpenAI from "openai";
import { OpenAIModelAdapter } from "../../src/openai/adapter.ts";
import type { OpenAIClient } from "../../src/openai/transport.ts";
import { openAITransport } from "../../src/openai/transport.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "../support/assert.ts";
import { runtimesWith } from "../support/runtime.ts";
import { test } from "../support/suite.ts";
import { ask, configWith, contextOf } from "../chat/adapters.ts";
import { bytesOf, chunk, eventsOf } from "../chat/bodies.ts";

const hi = eventsOf(chunk({ content: "Hi" }, "stop"));
const ports = { clock: new ManualClock() };

test("the client hands the finished body on as it is", async () => {
  const bodies: unknown[] = [];
  const transport = openAITransport({
    fetch(_, init) {
      bodies.push(init.body);
      return Promise.resolve(new Response(hi));
    },
  });
  await transport.startup!({ ...configWith(), ...defaults });
  const body = bytesOf('{"messages":[]}');
  const { signal } = new AbortController();
  const url = "http://model.test/v1/chat/completions";
  await transport.send({ url, headers: {}, body, signal });
  assertStrictEquals(bodies[0], body);
  await transport.shutdown!();
  await assertRejects(
    () => transport.send({ url, headers: {}, body, signal }),
    Error,
    "not started",
  );
});

test("a response comes back whole, whatever its status", async () => {
  for (const status of [200, 302, 404, 500]) {
    const response = new Response("text", { status });
    const transport = openAITransport({
      fetch: () => Promise.resolve(response),
    });
    await transport.startup!({ ...configWith(), ...defaults });
    const got = await transport.send({
      url: "http://model.test/v1/chat/completions",
      headers: {},
      body: bytesOf("{}"),
      signal: new AbortController().signal,
    });
    assertStrictEquals(got, response);
  }
});

test("the client writes nothing to the console", async () => {
  const written: unknown[][] = [];
  const { console } = globalThis;
  const record = (...words: unknown[]) => void written.push(words);
  globalThis.console = new Proxy(console, { get: () => record });
  try {
    for (const body of [hi, "data: {broken\n\n", ""]) {
      for (const status of [200, 500]) {
        const fetch = () => Promise.resolve(new Response(body, { status }));
        const adapter = new OpenAIModelAdapter(configWith(), {
          ...ports,
          fetch,
        });
        await adapter.startup();
        await ask(adapter);
        await adapter.shutdown();
      }
    }
  } finally {
    globalThis.console = console;
  }
  assertEquals(written, []);
});

test("the client takes nothing from the environment", {
  runtimes: runtimesWith("environment"),
}, async () => {
  const { env } = await processOf();
  const variables = {
    OPENAI_BASE_URL: "http://elsewhere.test/v1",
    OPENAI_API_KEY: "sk-of-the-environment",
    OPENAI_ORG_ID: "org",
    OPENAI_PROJECT_ID: "project",
    OPENAI_LOG: "debug",
    OPENAI_CUSTOM_HEADERS: "x-of-the-environment: a\napi-key: b",
  };
  Object.assign(env, variables);
  try {
    const requests: Request[] = [];
    const adapter = new OpenAIModelAdapter(configWith(), {
      ...ports,
      headers: { "x-mine": "kept" },
      fetch(url, init) {
        requests.push(new Request(url, init));
        return Promise.resolve(new Response(hi));
      },
    });
    await adapter.startup();
    await ask(adapter);
    const [{ url, headers }] = requests as [Request];
    assertEquals(url, "http://model.test/v1/chat/completions");
    assertEquals(headers.get("authorization"), `Bearer ${configWith().apiKey}`);
    assertEquals(headers.get("openai-organization"), null);
    assertEquals(headers.get("openai-project"), null);
    assertEquals(headers.get("x-of-the-environment"), null);
    assertEquals(headers.get("api-key"), null);
    assertEquals(headers.get("x-mine"), "kept");
  } finally {
    for (const name of Object.keys(variables)) delete env[name];
  }
});

test("the client works on the oldest Node that the suite runs on", {
  runtimes: ["node"],
}, async () => {
  const { versions } = await processOf();
  assert(Number(versions.node.split(".")[0]) >= 20, versions.node);
  const client: OpenAIClient = new OpenAI({
    apiKey: "k",
    baseURL: "http://model.test/v1",
    fetch: () => Promise.resolve(new Response(hi)),
  });
  const adapter = new OpenAIModelAdapter(configWith(), { ...ports, client });
  await adapter.startup();
  const { completed } = await ask(adapter, contextOf());
  assertEquals(completed?.message.content, "Hi");
});

const defaults = { timeoutMs: 1000, temperature: null, includeUsage: true };

interface Process {
  readonly env: Record<string, string | undefined>;
  readonly versions: { readonly node: string };
}

async function processOf(): Promise<Process> {
  // A variable, so that no bundle for workerd looks for the module.
  const specifier = "node:process";
  return (await import(specifier)).default;
}
