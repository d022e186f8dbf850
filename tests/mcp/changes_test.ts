import { McpServerManager } from "../../src/mcp/mod.ts";
import { calls, text } from "../../src/testing/mod.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { defineTool } from "../../src/tools/define_tool.ts";
import { agentWith } from "../agent/fixtures.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { FakeServer, tool } from "./fake_server.ts";
import { handlerOver, startedDemo } from "./kit.ts";

const changed = "notifications/tools/list_changed";

test(
  "changed tools take effect at the next turn",
  { case: "TL-150" },
  async () => {
    const clock = new ManualClock();
    const demo = new FakeServer({ tools: [tool("old")] });
    const change = defineTool({
      name: "change",
      execute: async () => {
        demo.options.tools = [tool("new")];
        demo.notify(changed);
        await settle();
        clock.advance(300);
        await settle();
        return "changed";
      },
    });
    const { agent, model } = agentWith([
      calls([{ id: "c1", name: "change" }, { id: "c2", name: "demo__old" }]),
      calls([{ id: "c3", name: "demo__new" }]),
      text("ok"),
    ], { tools: [change, handlerOver({ demo }, { clock })] });
    await agent.run("go");

    assertEquals(
      model.contexts.map(({ tools }) =>
        tools?.map(({ function: { name } }) => name)
      ),
      [["change", "demo__old"], ["change", "demo__new"], [
        "change",
        "demo__new",
      ]],
    );
    const contents = agent.state.messages
      .filter(({ role }) => role === "tool").map(({ content }) => content);
    assertEquals(contents, [
      "changed",
      JSON.stringify({
        status: "error",
        tool: "demo__old",
        error: 'unknown tool "demo__old" (available: demo__new)',
      }),
      "done",
    ]);
    await agent.shutdown();
  },
);

test("several announcements are one look at the list", async () => {
  const clock = new ManualClock();
  const told: unknown[] = [];
  const { handler, server } = await startedDemo({
    tools: [tool("kept"), tool("gone"), tool("other")],
  }, { clock, onToolsChanged: (...change) => told.push(change) });
  assertEquals(told, []);

  const other = tool("other", { description: "new" });
  server.options.tools = [tool("kept"), other, tool("added")];
  for (let count = 0; count < 3; count++) {
    server.notify(changed);
    await settle();
    clock.advance(200);
  }
  await settle();
  assertEquals(told, []);
  clock.advance(100);
  await settle();
  assertEquals(told, [["demo", {
    added: ["demo__added"],
    removed: ["demo__gone"],
    changed: ["demo__other"],
  }]]);
  assertEquals(handler.toolNames, ["demo__kept", "demo__other", "demo__added"]);
  const lists = server.received.filter((one) => one === "tools/list").length;
  assertEquals(lists, 2);
  await handler.shutdown();
});

test("a list that cannot be read leaves the old one", async () => {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const { handler, server } = await startedDemo({}, { clock, logger });
  server.options.tools = [tool("twice"), tool("twice")];
  server.notify(changed);
  await settle();
  clock.advance(300);
  await settle();
  assertEquals(handler.toolNames, ["demo__lookup"]);
  assertEquals(handler.diagnostics.map(({ kind }) => kind), ["list_failed"]);
  assertEquals(logger.warnings.length, 1);
  await handler.shutdown();
});

test("nothing is listed after a shutdown", async () => {
  const clock = new ManualClock();
  const { handler, server } = await startedDemo({}, { clock });
  server.notify(changed);
  await settle();
  await handler.shutdown();
  clock.advance(300);
  await settle();
  const lists = server.received.filter((one) => one === "tools/list").length;
  assertEquals([lists, clock.pending], [1, 0]);
});

test("a server that does not connect in time is given up", async () => {
  const clock = new ManualClock();
  const demo = new FakeServer({ initialize: () => new Promise(() => {}) });
  const handler = handlerOver({ demo }, { clock, connectTimeoutMs: 100 });
  const startup = handler.startup();
  await settle();
  clock.advance(100);
  await startup;
  assertEquals(handler.serverStatus("demo"), {
    status: "failed",
    error: "MCP server demo did not connect within 100 ms (connectTimeoutMs)",
  });
  await settle();
  assertEquals(demo.openCount, 0);
  await handler.shutdown();
});

test("a tool that a server takes away in the run is unknown to it", async () => {
  const { handler, server } = await startedDemo();
  server.options.tools = [];
  server.drop();
  const outcome = await handler.dispatch("demo__lookup", {}).catch(String);
  assertEquals(
    outcome,
    'UnknownToolError: unknown tool "demo__lookup" (available: none)',
  );
  await handler.shutdown();
});

test("neither an abort nor a shutdown waits for a server that does not connect", async () => {
  const { handler, server } = await startedDemo({}, {
    clock: new ManualClock(),
  });
  server.drop();
  server.options.initialize = () => new Promise(() => {});
  const controller = new AbortController();
  const call = handler.dispatch("demo__lookup", {}, {
    signal: controller.signal,
  });
  await settle();
  controller.abort(new Error("enough"));
  await assertRejects(() => call, Error, "enough");
  await handler.shutdown();
  assertEquals(handler.serverStatus("demo"), { status: "closed" });
  assertEquals(server.openCount, 0);
});

test("the same function may watch tools twice", async () => {
  const demo = new FakeServer();
  const manager = new McpServerManager({
    servers: { demo: { transport: demo.transport } },
    logger: new RecordingLogger(),
  });
  let toldCount = 0;
  const watcher = () => void toldCount++;
  const unwatch = manager.watchTools(watcher);
  manager.watchTools(watcher);
  await manager.startup();
  assertEquals(toldCount, 2);
  unwatch();
  unwatch();
  await manager.reconnect("demo");
  assertEquals(toldCount, 3);
  await manager.shutdown();
});
