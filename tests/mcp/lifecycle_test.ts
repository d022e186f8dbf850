import { AgentCancelledError } from "../../src/base/abort.ts";
import { Lifecycle } from "../../src/mcp/lifecycle.ts";
import {
  McpServerError,
  McpServerManager,
  type McpTransport,
} from "../../src/mcp/mod.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { UnknownToolError } from "../../src/tools/errors.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { type Deferred, deferred } from "../support/deferred.ts";
import { settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { FakeServer, tool } from "./fake_server.ts";
import { handlerOver, startedDemo } from "./kit.ts";

test("start-ups and shutdowns wait for each other", async () => {
  const log: string[] = [];
  const steps: Deferred<void>[] = [];
  const step = (name: string) => async () => {
    const done = deferred();
    steps.push(done);
    log.push(`${name} begins`);
    await done.promise;
    log.push(`${name} ends`);
  };
  const life = new Lifecycle();
  const start = step("start");
  const first = life.startup(start);
  await settle();
  const all = [
    first,
    life.startup(start),
    life.shutdown(step("stop")),
    life.startup(start),
  ];
  const ends = Promise.allSettled(all);
  for (let count = 0; count < 3; count++) {
    await settle();
    assertEquals([steps.length, life.isUp], [count + 1, false]);
    steps[count]!.resolve();
  }
  assertEquals(
    (await ends).map(({ status }) => status),
    ["rejected", "rejected", "fulfilled", "fulfilled"],
  );
  await assertRejects(() => all[1]!, AgentCancelledError, "A shutdown ended");
  assertEquals(log, [
    "start begins",
    "start ends",
    "stop begins",
    "stop ends",
    "start begins",
    "start ends",
  ]);
  assertEquals(life.isUp, true);
  await life.startup(start);
  assertEquals(steps.length, 3);
});

test("a start-up that fails may be tried again", async () => {
  const life = new Lifecycle();
  const fail = () => Promise.reject(new Error("out of order"));
  await assertRejects(() => life.startup(fail), Error, "out of order");
  await life.startup(() => Promise.resolve());
  assertEquals(life.isUp, true);
});

test("a shutdown ends a start-up, and the next one is whole", async () => {
  const demo = new FakeServer({ initialize: () => new Promise(() => {}) });
  const handler = handlerOver({ demo });
  const startup = handler.startup();
  const refusal = assertRejects(() => startup, AgentCancelledError);
  await settle();
  await handler.shutdown();
  await refusal;
  assertEquals([demo.openCount, handler.diagnostics], [0, []]);

  delete demo.options.initialize;
  await handler.startup();
  assertEquals(handler.toolNames, ["demo__lookup"]);
  await handler.shutdown();
});

test("a start-up during a shutdown comes after it", async () => {
  const closing = deferred();
  const demo = slowlyClosing(new FakeServer(), closing.promise);
  const handler = handlerOver({ demo });
  await handler.startup();
  const shutdown = handler.shutdown();
  const startup = handler.startup();
  await settle();
  assertEquals(handler.toolNames, []);
  closing.resolve();
  await Promise.all([shutdown, startup]);
  assertEquals(handler.toolNames, ["demo__lookup"]);
  assertEquals((await handler.dispatch("demo__lookup", {})).data, "done");
  await handler.shutdown();
  assertEquals(demo.openCount, 0);
});

test("two start-ups at once are one", async () => {
  const demo = new FakeServer();
  const manager = new McpServerManager({
    servers: { demo: { transport: demo.transport } },
    logger: new RecordingLogger(),
  });
  await Promise.all([manager.startup(), manager.startup()]);
  assertEquals([demo.handshakes.length, demo.openCount], [1, 1]);
  await manager.shutdown();
});

test("nothing is opened again during a shutdown", async () => {
  const closing = deferred();
  const slow = slowlyClosing(new FakeServer(), closing.promise);
  const quick = new FakeServer({ tools: [tool("look")] });
  // The last one is closed first.
  const handler = handlerOver({ quick, slow });
  await handler.startup();
  const shutdown = handler.shutdown();
  for (const name of ["quick__look", "slow__lookup"]) {
    await assertRejects(() => handler.dispatch(name, {}), UnknownToolError);
  }
  for (const name of ["quick", "slow"]) {
    await assertRejects(() => handler.reconnect(name), McpServerError, name);
  }
  closing.resolve();
  await shutdown;
  assertEquals([quick.openCount, slow.openCount], [0, 0]);
  await assertRejects(
    () => handler.reconnect("quick"),
    McpServerError,
    "MCP server quick is closed; start up its handler or manager first",
  );
  assertEquals(quick.handshakes.length, 1);
});

test("a call that waits for its connection opens none behind a shutdown", async () => {
  const { handler, server } = await startedDemo();
  server.drop();
  server.options.initialize = () => new Promise(() => {});
  const call = handler.dispatch("demo__lookup", {});
  const refusal = assertRejects(() => call, McpServerError, "not connected");
  await settle();
  await handler.shutdown();
  await refusal;
  assertEquals([server.openCount, server.handshakes.length], [0, 1]);
});

test("a call that is aborted already opens nothing", async () => {
  const { handler, server } = await startedDemo();
  server.drop();
  const signal = AbortSignal.abort(new Error("enough"));
  await assertRejects(
    () => handler.dispatch("demo__lookup", {}, { signal }),
    Error,
    "enough",
  );
  await settle();
  assertEquals(server.handshakes.length, 1);
  await handler.shutdown();
});

test("a connection that ends behind the list of its tools is none", async () => {
  const demo = new FakeServer();
  const { transport } = demo;
  let isFirst = true;
  Object.assign(demo, {
    transport: () => {
      const link = transport();
      const send = link.send.bind(link);
      link.send = async (message) => {
        await send(message);
        if (!isFirst || message.method !== "tools/list") return;
        isFirst = false;
        endBehindAnswer(link);
      };
      return link;
    },
  });
  const handler = handlerOver({ demo });
  await handler.startup();
  assertEquals(handler.serverStatus("demo"), {
    status: "failed",
    error: "MCP error -32000: Connection closed",
  });
  await handler.reconnect("demo");
  assertEquals((await handler.dispatch("demo__lookup", {})).data, "done");
  await handler.shutdown();
});

/** Ends a connection in the very step in which it delivers the next message. */
function endBehindAnswer(link: McpTransport): void {
  const receiver = link as { onmessage?: (message: unknown) => void };
  const { onmessage } = receiver;
  receiver.onmessage = (message) => {
    onmessage?.(message);
    void link.close();
  };
}

/** The same server, whose connections close only when `closed` resolves. */
function slowlyClosing(server: FakeServer, closed: Promise<void>): FakeServer {
  const { transport } = server;
  return Object.assign(server, {
    transport: () => {
      const link = transport();
      const close = link.close.bind(link);
      return Object.assign(link, { close: () => closed.then(close) });
    },
  });
}
