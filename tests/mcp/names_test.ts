import { ManualClock } from "../../src/testing/manual_clock.ts";
import { assertEquals } from "../support/assert.ts";
import { settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { tool } from "./fake_server.ts";
import { startedDemo } from "./kit.ts";

const changed = "notifications/tools/list_changed";

test("a name that the model knows stays with its tool", async () => {
  const clock = new ManualClock();
  const called: string[] = [];
  const { handler, server } = await startedDemo({
    tools: [tool("a.b")],
    call: ({ name }) => void called.push(name),
  }, { clock });
  assertEquals(handler.toolNames, ["demo__a_b"]);

  const listAnew = async (...names: string[]) => {
    server.options.tools = names.map((name) => tool(name));
    server.notify(changed);
    await settle();
    clock.advance(300);
    await settle();
    called.length = 0;
    for (const name of handler.toolNames) await handler.dispatch(name, {});
    return handler.toolNames;
  };
  const both = await listAnew("a_b", "a.b");
  assertEquals([both[1], both.length], ["demo__a_b", 2]);
  assertEquals(called, ["a_b", "a.b"]);
  assertEquals<unknown>(await listAnew("a_b"), [both[0]]);
  // Nor does it go to another tool in the very step in which its own one is gone.
  const [alone] = await listAnew("a/b");
  assertEquals(alone, "demo__a_b");
  const [other] = await listAnew("a_b");
  assertEquals(other === "demo__a_b", false);
  await handler.shutdown();
});
