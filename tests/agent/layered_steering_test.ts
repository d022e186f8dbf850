import { block, text } from "../../src/testing/mod.ts";
import { assertEquals } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";
import { agentWith, contentsOf } from "./fixtures.ts";

test("steering before a layer begins the run reaches its first request", async () => {
  const entered = deferred();
  const held = deferred();
  const { agent, sink, model } = agentWith([text("done")], {
    middleware: [{
      async *aroundRun(_request, next) {
        entered.resolve();
        await held.promise;
        return yield* next();
      },
    }],
  });
  const run = agent.run("go");
  await entered.promise;
  const receipt = agent.steer("and");
  assertEquals([receipt.status, agent.pendingSteeringCount], ["accepted", 1]);
  held.resolve();
  await run;
  assertEquals(await receipt.outcome, { kind: "applied", turn: 1 });
  assertEquals(contentsOf(model.contexts[0]?.llmMessages ?? []), [
    "P",
    "go",
    "and",
  ]);
  assertEquals(
    sink.trace(),
    "AS TS1 SA MC TC1 AF(completed/text_response)",
  );
});

test("between two runs of a layer steering is refused, in the second one accepted", async () => {
  const statuses: string[] = [];
  const gate = block();
  const { agent, sink } = agentWith([text("first"), gate, text("second")], {
    middleware: [{
      async *aroundRun(_request, next) {
        yield* next();
        statuses.push(agent.steer("too early").status);
        return yield* next();
      },
    }],
  });
  const run = agent.run("go");
  await gate.entered;
  const receipt = agent.steer("and");
  statuses.push(receipt.status);
  gate.release();
  assertEquals((await run).output, "second");
  assertEquals(statuses, ["run_closing", "accepted"]);
  assertEquals(await receipt.outcome, { kind: "applied", turn: 2 });
  assertEquals(sink.ofKind("steering_applied").length, 1);
});

test("a run that a layer has cancelled cannot be steered", async () => {
  const controller = new AbortController();
  const gate = block();
  const { agent, sink } = agentWith([gate], {
    middleware: [{
      aroundRun: (request, next) =>
        next({ ...request, signal: controller.signal }),
    }],
  });
  const run = agent.run("go");
  await gate.entered;
  const before = agent.steer("in time");
  controller.abort(new Error("out of time"));
  assertEquals(agent.steer("too late").status, "run_closing");
  assertEquals((await run).error, "out of time");
  assertEquals(await before.outcome, {
    kind: "discarded",
    reason: "external_abort",
  });
  assertEquals(
    sink.trace(),
    "AS TS1 TC1 SD AF(cancelled/external_abort)",
  );
});
