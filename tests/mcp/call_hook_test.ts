import { ManualClock } from "../../src/testing/manual_clock.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { assertEquals } from "../support/assert.ts";
import { settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { tool } from "./fake_server.ts";
import { startedDemo } from "./kit.ts";

const changed = "notifications/tools/list_changed";

test("whoever is told of changes may fail", async () => {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const { handler, server } = await startedDemo({}, {
    clock,
    logger,
    onToolsChanged() {
      throw new Error("boom");
    },
  });
  server.options.tools = [tool("new")];
  server.notify(changed);
  await settle();
  clock.advance(300);
  await settle();
  assertEquals(handler.toolNames, ["demo__new"]);
  assertEquals(handler.diagnostics, []);
  assertEquals(
    logger.warnings.map(({ message, details }) => [message, details?.error]),
    [["onToolsChanged failed", "boom"]],
  );

  server.options.tools = [tool("newest")];
  server.drop();
  await handler.dispatch("demo__newest", {}).catch(() => {});
  await handler.reconnect("demo");
  assertEquals(handler.serverStatus("demo"), { status: "connected" });
  await handler.shutdown();
});
