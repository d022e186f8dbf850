import { RecordingLogger } from "../../src/testing/ports.ts";
import { defineTool } from "../../src/tools/define_tool.ts";
import type { ToolLayer } from "../../src/tools/middleware.ts";
import {
  ProgressChannel,
  silentProgress,
  type ToolProgressReporter,
} from "../../src/tools/progress.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertThrows,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { settle as macrotask } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";
import { call, openCancellation, settle, started } from "./tool_kit.ts";

const scan = defineTool({
  name: "scan",
  execute: async (_args, { progress }) => {
    await progress.report("scanning", { completed: 1, total: 2 });
    await progress.report({
      message: "finished",
      data: { completed: 2, total: 2 },
    });
  },
});

test("updates come between start and end of their call", {
  case: "TL-68",
}, async () => {
  const runtime = await started([scan]);
  const { trace } = await settle(runtime, [call("1", "scan")]);
  assertEquals(trace, [
    "started:1",
    "progressed:1:scanning",
    "progressed:1:finished",
    "completed:1",
  ]);
});

test("the three reports of a call carry the very same call", {
  case: "TL-68",
}, async () => {
  const seen = new Set<unknown>();
  const scanned = call("1", "scan");
  const runtime = await started([scan]);
  await settle(runtime, [scanned], {
    report: {
      started: (toolCall) => void seen.add(toolCall),
      progressed: (toolCall, update) => {
        seen.add(toolCall);
        assert(Object.isFrozen(update));
      },
      completed: (toolCall) => void seen.add(toolCall),
      decided() {},
      halted: () => null,
    },
  });
  assertEquals([...seen].length, 1);
  assert(seen.has(scanned));
});

test("middleware reports through the same reporter", {
  case: "TL-69",
}, async () => {
  const layer: ToolLayer = {
    async aroundTool(context, next) {
      await context.progress?.report("middleware");
      return await next();
    },
  };
  const runtime = await started([scan], { layers: [layer] });
  const { trace } = await settle(runtime, [call("1", "scan")]);
  assertEquals(trace.slice(1, 4), [
    "progressed:1:middleware",
    "progressed:1:scanning",
    "progressed:1:finished",
  ]);
});

test("a report after the call does nothing", { case: "TL-70" }, async () => {
  let kept: ToolProgressReporter | undefined;
  const keep = defineTool({
    name: "keep",
    execute: (_args, { progress }) => void (kept = progress),
  });
  const runtime = await started([keep]);
  const { trace } = await settle(runtime, [call("1", "keep")]);
  await kept!.report("too late");
  assertEquals(trace, ["started:1", "completed:1"]);
});

test("reports that nobody awaits still arrive, in order, before the end", {
  case: "TL-71",
}, async () => {
  const hasty = defineTool({
    name: "hasty",
    execute: (_args, { progress }) => {
      for (const message of ["m0", "m1", "m2"]) void progress.report(message);
    },
  });
  const runtime = await started([hasty]);
  const { trace } = await settle(runtime, [call("1", "hasty")], {
    on: () => macrotask(),
  });
  assertEquals(trace, [
    "started:1",
    "progressed:1:m0",
    "progressed:1:m1",
    "progressed:1:m2",
    "completed:1",
  ]);
});

test("an update must have a message", { case: "TL-74" }, async () => {
  const wrong = ["", {}, 5, { message: "" }, null, undefined, { message: 5 }];
  for (const update of wrong) {
    const sloppy = defineTool({
      name: "sloppy",
      execute: (_args, { progress }) => progress.report(update as string),
    });
    const runtime = await started([sloppy]);
    const { outcome, results, trace } = await settle(runtime, [
      call("1", "sloppy"),
    ]);
    assertEquals(results[0]?.error, "A progress update must have a message");
    assertEquals(outcome, { kind: "continue" });
    assertEquals(trace, ["started:1", "completed:1"]);
  }
});

test("a wrong update is refused at any time, and harmless if nobody awaits it", async () => {
  await assertRejects(() => silentProgress.report(""), TypeError);
  await silentProgress.report("fine");
  void silentProgress.report("");
});

test("white space is a message", async () => {
  const delivered: string[] = [];
  const channel = new ProgressChannel({
    deliver: ({ message }) => void delivered.push(message),
    cancellation: { aborted: false },
    logger: new RecordingLogger(),
  });
  await channel.report(" ");
  assertEquals(delivered, [" "]);
});

test("an observer that fails is logged and does not reach the tool", {
  case: "TL-76",
}, async () => {
  const logger = new RecordingLogger();
  const runtime = await started([scan], { logger });
  const { results } = await settle(runtime, [call("1", "scan")], {
    on: (mark) => {
      if (mark.startsWith("progressed")) throw new Error("sink is broken");
    },
  });
  assertEquals(results[0]?.error, null);
  assertEquals(
    logger.warnings.map(({ details }) => details?.error),
    ["sink is broken", "sink is broken"],
  );
});

test("updates are delivered one at a time", async () => {
  const first = deferred();
  const delivered: string[] = [];
  const channel = new ProgressChannel({
    deliver: async ({ message }) => {
      if (message === "first") await first.promise;
      delivered.push(message);
    },
    cancellation: { aborted: false },
    logger: new RecordingLogger(),
  });
  const reports = [channel.report("first"), channel.report("second")];
  await macrotask();
  assertEquals(delivered, []);
  first.resolve();
  await Promise.all(reports);
  assertEquals(delivered, ["first", "second"]);
});

test("an abort lets the update in delivery pass and drops those behind it", async () => {
  const first = deferred();
  const delivered: string[] = [];
  const cancellation = openCancellation();
  const channel = new ProgressChannel({
    deliver: async ({ message }) => {
      await first.promise;
      delivered.push(message);
    },
    cancellation,
    logger: new RecordingLogger(),
  });
  const reports = [channel.report("first"), channel.report("second")];
  cancellation.abort("stop");
  first.resolve();
  await Promise.all([...reports, channel.report("third")]);
  await channel.close();
  assertEquals(delivered, ["first"]);
  cancellation.close();
});

test("an update is frozen, its data are the reporter's own", async () => {
  const data = { n: 1 };
  const channel = new ProgressChannel({
    deliver: (update) => {
      assertThrows(() => Object.assign(update, { message: "x" }), TypeError);
      assert(update.data === data);
    },
    cancellation: { aborted: false },
    logger: new RecordingLogger(),
  });
  await channel.report("m", data);
  assert(!Object.isFrozen(data));
});
