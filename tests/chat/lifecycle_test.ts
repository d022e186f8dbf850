import { ChatModelAdapter } from "../../src/chat/adapter.ts";
import type { ChatTransport } from "../../src/chat/transport.ts";
import { ModelProviderError } from "../../src/model/errors.ts";
import { OpenAIModelAdapter } from "../../src/openai/adapter.ts";
import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { adapterKinds, ask, configWith, contextOf } from "./adapters.ts";
import { answering, chunk, eventsOf } from "./bodies.ts";

const hi = eventsOf(chunk({ content: "Hi" }, "stop"));

for (const { kind, make } of adapterKinds) {
  test(`an adapter serves between startup and shutdown, over ${kind}`, {
    case: "X-182",
  }, async () => {
    const adapter = make({ fetch: answering(hi) });
    await refuses(adapter);
    for (let round = 0; round < 2; round++) {
      await adapter.startup();
      assertEquals((await ask(adapter)).completed?.message.content, "Hi");
      await adapter.shutdown();
      await refuses(adapter);
    }
    await adapter.shutdown();
  });

  test(`agents that share an adapter do not stop each other, over ${kind}`, async () => {
    const adapter = make({ fetch: answering(hi) });
    await adapter.startup();
    await adapter.startup();
    await adapter.shutdown();
    assertEquals((await ask(adapter)).completed?.message.content, "Hi");
    await adapter.shutdown();
    await refuses(adapter);
  });
}

test("the transport is started by the first user and closed by the last", {
  case: "X-182",
}, async () => {
  const { transport, log } = loggedTransport();
  const adapter = new ChatModelAdapter(configWith(), { transport });
  await Promise.all([adapter.startup(), adapter.startup()]);
  await adapter.shutdown();
  assertEquals(log, ["startup m"]);
  await adapter.shutdown();
  await adapter.shutdown();
  await adapter.startup();
  assertEquals(log, ["startup m", "shutdown", "startup m"]);
});

test("a failed startup leaves nothing behind", async () => {
  const starting = deferred();
  const { transport, log } = loggedTransport(() => starting.promise);
  const adapter = new ChatModelAdapter(configWith(), { transport });
  const started = [adapter.startup(), adapter.startup()];
  starting.reject(new Error("no route"));
  for (const each of started) {
    await assertRejects(() => each, Error, "no route");
  }
  await refuses(adapter);
  await adapter.shutdown();
  assertEquals(log, ["startup m"]);
  await assertRejects(() => adapter.startup(), Error, "no route");
});

test("an injected client decides about address and key, and stays open", {
  case: "X-182",
}, async () => {
  const requests: {
    path: string;
    headers: Record<string, string>;
    maxRetries: number;
  }[] = [];
  let closed = false;
  const client = {
    post(
      path: string,
      options: { headers: Record<string, string>; maxRetries: number },
    ) {
      requests.push({
        path,
        headers: options.headers,
        maxRetries: options.maxRetries,
      });
      return { asResponse: () => Promise.resolve(new Response(hi)) };
    },
    close: () => closed = true,
  };
  const adapter = new OpenAIModelAdapter(configWith(), { client });
  await adapter.startup();
  await ask(adapter);
  await adapter.shutdown();
  assertEquals(closed, false);
  const [request] = requests;
  assertEquals([request!.path, request!.maxRetries], ["/chat/completions", 0]);
  assert(!("authorization" in request!.headers));
});

async function refuses(adapter: ChatModelAdapter): Promise<void> {
  const call = { signal: new AbortController().signal };
  const error = await adapter.complete(contextOf(), call)
    .catch((error) => error);
  assertInstanceOf(error, ModelProviderError);
  assert(error.message.includes("startup()"), error.message);
  assertInstanceOf((await ask(adapter)).error, ModelProviderError);
}

function loggedTransport(ready: () => Promise<void> = () => Promise.resolve()) {
  const log: string[] = [];
  const transport: ChatTransport = {
    startup(config) {
      log.push(`startup ${config.model}`);
      return ready();
    },
    shutdown() {
      log.push("shutdown");
    },
    send: () => Promise.resolve(new Response(hi)),
  };
  return { transport, log };
}
