import { ListRefresh } from "../../src/mcp/list_refresh.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { assertEquals } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { FakeServer, tool } from "./fake_server.ts";
import { handlerOver } from "./kit.ts";

test("a storm of announcements delays the first one for two seconds", () => {
  const clock = new ManualClock();
  const readings: number[] = [];
  const list: ListRefresh = new ListRefresh(clock, () => {
    readings.push(clock.now());
    void list.read(() => Promise.resolve());
  });
  for (let count = 0; count < 10; count++) {
    list.announce();
    clock.advance(200);
  }
  assertEquals(readings, [2000]);
});

test("a change during a reading is read after it", async () => {
  const clock = new ManualClock();
  const readings: ReturnType<typeof deferred<void>>[] = [];
  const list: ListRefresh = new ListRefresh(clock, () => {
    const reading = deferred();
    readings.push(reading);
    void list.read(() => reading.promise);
  });
  list.announce();
  clock.advance(300);
  list.announce();
  clock.advance(5000);
  assertEquals([readings.length, clock.pending], [1, 0]);

  readings[0]!.resolve();
  await settle();
  clock.advance(300);
  assertEquals(readings.length, 2);

  // Nor is anything begun after the end.
  list.announce();
  list.end();
  readings[1]!.resolve();
  await settle();
  assertEquals([readings.length, clock.pending], [2, 0]);
});

test("a change that is announced while the start-up lists is not lost", async () => {
  const clock = new ManualClock();
  const listed = deferred();
  const demo = new FakeServer({ tools: [tool("old")] });
  const answer = demo.answer.bind(demo);
  let isFirst = true;
  demo.answer = async (message, call) => {
    const result = await answer(message, call);
    if (message.method === "tools/list" && isFirst) {
      isFirst = false;
      demo.options.tools = [tool("new")];
      demo.notify("notifications/tools/list_changed");
      await listed.promise;
    }
    return result;
  };
  const handler = handlerOver({ demo }, { clock });
  const startup = handler.startup();
  await settle();
  listed.resolve();
  await startup;
  assertEquals(handler.toolNames, ["demo__old"]);
  clock.advance(300);
  await settle();
  assertEquals(handler.toolNames, ["demo__new"]);
  await handler.shutdown();
});
