import type { ObjectState } from "../../../adapters/cloudflare/storage_types.ts";
import { ScriptedModel } from "../../../src/testing/scripted_model.ts";
import { answered, started } from "../../../src/testing/session_drafts.ts";
import { calls } from "../../../src/testing/steps.ts";
import { defineTool } from "../../../src/tools/define_tool.ts";
import { assertEquals } from "../../support/assert.ts";
import { deferred } from "../../support/deferred.ts";
import { test } from "../../support/suite.ts";
import {
  alarmMs,
  type OpenedObject,
  openObject,
  type Overrides,
  sqliteObject,
} from "./sqlite_object.ts";

// SQLite in memory stands in for a Durable Object, so that its end can be placed exactly.
const here = { runtimes: ["deno"] } as const;

test("a run goes on although its first start-up fails", here, async () => {
  const state = await interrupted();
  let startCount = 0;
  const object = openObject(state, {
    middleware: [{
      startup() {
        if (startCount++ === 0) throw new Error("Down for a second");
      },
      aroundModel: (request, next) => next(request),
    }],
  });
  await object.alarm();
  assertEquals(await distanceOf(state), 1);
  await object.alarm();
  assertEquals(await contentsOf(object), ["Work", null, "resumed"]);
  assertEquals(await state.storage.getAlarm(), null);
});

test(
  "a run goes on although its object ends in the start-up",
  here,
  async () => {
    const state = await interrupted();
    const first = openObject(state, hanging());
    void first.alarm();
    await first.startupBegun.promise;
    assertEquals(await distanceOf(state), 1);
    const second = openObject(state);
    await second.alarm();
    assertEquals(await contentsOf(second), ["Work", null, "resumed"]);
  },
);

test(
  "an agent that never starts is tried six times, ever more seldom",
  here,
  async () => {
    const state = await interrupted();
    const distances: (number | null)[] = [];
    for (let count = 0; count < 8; count++) {
      await state.storage.deleteAlarm();
      await openObject(state, failing).alarm();
      distances.push(await distanceOf(state));
    }
    assertEquals(distances, [1, 2, 4, 8, 16, 32, null, null]);

    const object = openObject(state);
    await object.run("Next");
    assertEquals((await contentsOf(object)).at(-1), "resumed");
  },
);

test("a run counts attempts anew", here, async () => {
  const state = await interrupted();
  for (let count = 0; count < 3; count++) {
    await openObject(state, failing).alarm();
  }
  await runIntoTool(state);
  await openObject(state, failing).alarm();
  assertEquals(await distanceOf(state), 1);
});

test("an answer is not asked for again", here, async () => {
  const state = await sqliteObject();
  const { sessions } = openObject(state);
  const place = { sessionId: "s", agentId: "a" };
  await sessions.append({ ...started("r1", "Question"), ...place });
  await sessions.append({ ...answered("r1", 2, "Answer"), ...place });
  const model = new ScriptedModel([]);
  const object = openObject(state, { model });
  await object.alarm();
  assertEquals(await contentsOf(object), ["Question", "Answer"]);
  assertEquals(model.requests.length, 0);
  const [run] = (await object.sessions.load("s"))!.runs;
  assertEquals(run!.recovery?.reason, "object_evicted");
});

test("an alarm during a start-up leaves the run alone", here, async () => {
  const state = await interrupted();
  const go = deferred<void>();
  const object = openObject(state, hanging(go.promise));
  const run = object.run("New task");
  await object.startupBegun.promise;
  await object.alarm();
  assertEquals(await distanceOf(state), 1);
  go.resolve();
  assertEquals((await run).output, "resumed");
  assertEquals(await state.storage.getAlarm(), null);
});

/** An object whose run was interrupted within a tool. */
async function interrupted(): Promise<ObjectState> {
  const state = await sqliteObject();
  await runIntoTool(state);
  return state;
}

async function runIntoTool(state: ObjectState): Promise<void> {
  const reached = deferred<void>();
  const object = openObject(state, {
    model: new ScriptedModel([calls([{ name: "work", id: "c1" }])]),
    tools: [defineTool({
      name: "work",
      description: "Never ends.",
      execute() {
        reached.resolve();
        return new Promise<never>(() => {});
      },
    })],
  });
  void object.run("Work").catch(() => {});
  await reached.promise;
}

const failing: Overrides = {
  middleware: [{
    startup() {
      throw new Error("Down");
    },
    aroundModel: (request, next) => next(request),
  }],
};

/** An agent whose start-up waits. */
function hanging(
  until: Promise<void> = new Promise<void>(() => {}),
): Overrides {
  const startupBegun = deferred<void>();
  return {
    startupBegun,
    middleware: [{
      startup() {
        startupBegun.resolve();
        return until;
      },
      aroundModel: (request, next) => next(request),
    }],
  };
}

/** How far away the alarm is, as a multiple of `alarmMs`. */
async function distanceOf({ storage }: ObjectState): Promise<number | null> {
  const dueMs = await storage.getAlarm();
  return dueMs === null ? null : Math.round((dueMs - Date.now()) / alarmMs);
}

/** What was said, but for the results of tools. */
async function contentsOf(object: OpenedObject): Promise<unknown[]> {
  const messages = await object.history();
  return messages.filter(({ role }) => role !== "tool")
    .map(({ content }) => content);
}
