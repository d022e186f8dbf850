import fc from "fast-check";
import {
  type AgentEvent,
  type AgentRunResult,
  FollowUpDiscardedError,
  FollowUpRejectedError,
} from "../../mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { isLong } from "../support/runtime.ts";
import { test } from "../support/suite.ts";
import { type Plan, plans } from "./control_plan.ts";
import { type Asked, ControlWorld } from "./control_world.ts";
import {
  assertClosedTranscript,
  assertWholeRuns,
  runsOf,
} from "./invariants.ts";

const seed = 20_261_130;

test("whatever the caller does, every promise of control holds", {
  timeoutMs: isLong ? 3_600_000 : 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => void await play(plan)),
    {
      seed,
      numRuns: isLong ? 10_000 : 300,
    },
  );
});

test("a sink that fails changes nothing that happens", {
  timeoutMs: 120_000,
}, async () => {
  const traceWith = async (plan: Plan): Promise<string> => {
    const world = await play(plan);
    return `${world.sink.trace()} ${world.agent.messages.length}`;
  };
  await fc.assert(
    fc.asyncProperty(
      plans,
      fc.integer({ min: 1, max: 10 }),
      async (plan, at) =>
        assertEquals(
          await traceWith({ ...plan, failingAt: at }),
          await traceWith({ ...plan, failingAt: null }),
        ),
    ),
    { seed, numRuns: isLong ? 1000 : 40 },
  );
});

async function play(plan: Plan): Promise<ControlWorld> {
  const world = new ControlWorld(plan);
  for (const step of plan.steps) await world.take(step);
  assert(await world.drain(), `everything settles: ${pendingOf(world)}`);
  assertEquals(world.violations, []);
  assertWholeRuns(world.sink.events);
  assertClosedTranscript(world.agent.messages);
  assertSettledRightly(world);
  assertResultsAnnounced(world);
  assertOrder(world.sink.events, world);
  await assertSteering(world);
  assertFollowUps(world);
  assertFailurePolicy(world);
  assertCancellations(world);
  assertAborts(world);
  assertStreams(world);
  assertNothingLeft(world);
  return world;
}

function pendingOf({ asked }: ControlWorld): string {
  return asked.filter(({ settled }) => settled === undefined)
    .map(({ label }) => label).join(", ");
}

/** Only what cannot be said with a result is a rejection. */
function assertSettledRightly(world: ControlWorld): void {
  const mayFailToStart = world.plan.startupFailingAt !== null;
  const isShutDown = world.asked.some(({ kind }) => kind === "shutdown");
  for (const { kind, label, settled, caller, duringShutdown } of world.asked) {
    if (settled === undefined || !("error" in settled)) continue;
    const { code, message } = settled.error;
    const allowed = {
      agent_cancelled: kind === "dispatch" || kind === "continue" ||
        kind === "startup" && isShutDown || caller?.signal.aborted === true,
      agent_shutting_down: duringShutdown,
      continue_rejected: kind === "continue",
      follow_up_rejected: kind === "followUp",
      follow_up_discarded: kind === "followUp",
      agent_configuration: kind === "compact",
      agent_startup: mayFailToStart,
    }[code ?? ""] ?? (kind === "dispatch" || mayFailToStart);
    assert(allowed, `${label} rejects with ${code}: ${message}`);
  }
}

/** Every result of a run is the one that its last event carries, and the other way round. */
function assertResultsAnnounced(world: ControlWorld): void {
  const announced = new Map(
    world.sink.ofKind("agent_finished").map((event) => [
      event.runId,
      event.result,
    ]),
  );
  const returned = resultsOf(world);
  for (const [asked, result] of returned) {
    if (result.runId === null) continue;
    assert(announced.get(result.runId) === result, `result of ${asked.label}`);
    announced.delete(result.runId);
    const task = taskOf(world, result.runId);
    if (asked.kind !== "continue") assertEquals(task, asked.label);
  }
  assertEquals([...announced.keys()], [], "runs that nobody was told about");
}

function resultsOf(
  { asked }: ControlWorld,
): readonly (readonly [Asked, AgentRunResult])[] {
  return asked.flatMap((entry) => {
    const { kind, settled } = entry;
    const runs = ["run", "continue", "stream", "followUp"].includes(kind);
    return runs && settled !== undefined && "value" in settled
      ? [[entry, settled.value as AgentRunResult] as const]
      : [];
  });
}

function taskOf({ sink }: ControlWorld, runId: string): string | undefined {
  return sink.ofKind("agent_started").find((event) => event.runId === runId)
    ?.task;
}

/** Runs begin in the order of the calls, follow-ups in theirs and before what waits. */
function assertOrder(
  events: readonly AgentEvent[],
  { handles }: ControlWorld,
): void {
  const started = events.flatMap((event) =>
    event.kind === "agent_started" ? [event.task] : []
  );
  const isFollowUp = (task: string) =>
    handles.some(({ control }) => control.content === task);
  for (const among of [isFollowUp, (task: string) => !isFollowUp(task)]) {
    const numbers = started.filter(among).map((task) =>
      Number(task.split(" ")[1])
    );
    assertEquals(numbers, numbers.toSorted((a, b) => a - b), "order of runs");
  }
}

/** Every accepted input ends in one event, which its receipt agrees with. */
async function assertSteering(world: ControlWorld): Promise<void> {
  const fates = new Map<string, string[]>();
  for (const run of runsOf(world.sink.events)) {
    const last = run.at(-1);
    for (const event of run) {
      if (
        event.kind !== "steering_applied" && event.kind !== "steering_discarded"
      ) continue;
      const fate = event.kind === "steering_applied"
        ? `applied ${event.targetTurn}`
        : `discarded ${event.reason}`;
      const { inputId } = event.control;
      fates.set(inputId, [...fates.get(inputId) ?? [], fate]);
      if (event.kind !== "steering_discarded") continue;
      assert(last?.kind === "agent_finished");
      if (last.result.failure?.code === "persistence_failed") continue;
      assertEquals(event.reason, last.result.stopReason);
    }
  }
  // What was said into an operation that never made a run has no event.
  const unmade = world.asked.some(({ kind, settled }) =>
    settled !== undefined &&
    ("error" in settled
      ? kind === "continue" || settled.error.code === "agent_startup"
      : (settled.value as AgentRunResult | undefined)?.runId === null)
  );
  for (const { control, accepted, outcome } of world.receipts) {
    const settled = await outcome;
    const fate = fates.get(control.inputId) ?? [];
    switch (settled.kind) {
      case "applied":
        assertEquals(fate, [`applied ${settled.turn}`]);
        break;
      case "discarded":
        if (fate.length === 0 && unmade) break;
        assertEquals(fate, [`discarded ${settled.reason}`]);
        break;
      case "refused":
        assertEquals([fate, accepted], [[], false]);
    }
  }
}

/** A handle tells of a run of its own or says why there was none. */
function assertFollowUps(world: ControlWorld): void {
  const tasks = world.sink.ofKind("agent_started").map(({ task }) => task);
  for (const { control, accepted, done } of world.handles) {
    const asked = world.asked.find(({ label }) => label === control.content);
    const settled = asked?.settled;
    assert(done && settled !== undefined, `${control.content} is done`);
    const ran = tasks.filter((task) => task === control.content).length;
    if ("value" in settled) assertEquals([accepted, ran], [true, 1]);
    else if (settled.error.code === "agent_startup") {
      assertEquals([accepted, ran], [true, 0]);
    } else {
      const expected = accepted
        ? FollowUpDiscardedError
        : FollowUpRejectedError;
      assert(settled.error instanceof expected, String(settled.error));
      assertEquals(ran, 0);
    }
  }
}

/** Under `discard` no follow-up begins behind a run that was not completed; under `continue` none is lost. */
function assertFailurePolicy(
  { plan, sink, handles, asked }: ControlWorld,
): void {
  if (plan.followUpFailurePolicy === "continue") {
    for (const { label, settled } of asked) {
      if (settled === undefined || !("error" in settled)) continue;
      const { error } = settled;
      if (!(error instanceof FollowUpDiscardedError)) continue;
      assertEquals(error.reason, "agent_shutdown", label);
    }
    return;
  }
  let last: AgentRunResult | undefined;
  for (const event of sink.events) {
    if (event.kind === "agent_finished") last = event.result;
    if (event.kind !== "agent_started") continue;
    const followsUp = handles.some(({ control }) =>
      control.content === event.task
    );
    assert(!followsUp || last?.succeeded, `${event.task} follows a failure`);
  }
}

/** A run is cancelled only if somebody cancelled it, for the reason that was given. */
function assertCancellations(world: ControlWorld): void {
  for (const [{ label }, { stopReason, error }] of resultsOf(world)) {
    if (stopReason !== "external_abort") continue;
    assert(world.reasons.has(error ?? ""), `${label} was aborted: ${error}`);
  }
}

/** An abort that says that it changed something has done so. */
function assertAborts(world: ControlWorld): void {
  // While a layer is open an abort reaches it, though the run inside is over.
  if (world.plan.layered) return;
  const results = new Map(
    world.sink.ofKind("agent_finished").map((event) => [
      event.runId,
      event.result,
    ]),
  );
  const texts = new Set(world.asked.map(({ settled }) => textOf(settled)));
  for (const { reason, runId } of world.aborts) {
    if (texts.has(reason)) continue;
    // Work that finishes in the same step as the abort still counts.
    const result = runId === null ? undefined : results.get(runId);
    const excused = result === undefined
      ? world.plan.startupFailingAt !== null ||
        world.plan.requiredFailingAt !== null || world.asked.some(({ kind }) =>
          kind === "dispatch" || kind === "compact"
        )
      : decidedByUser.has(result.stopReason) ||
        result.failure?.code === "persistence_failed";
    assert(excused, `abort(${reason}) said true and changed nothing`);
  }
}

const decidedByUser = new Set<string>([
  "tool_completion",
  "tool_rejected",
  "tool_cancelled",
  "behavior_stop",
]);

function textOf(settled: Asked["settled"]): unknown {
  if (settled === undefined) return undefined;
  if ("error" in settled) return settled.error.message;
  return (settled.value as { readonly error?: unknown } | undefined)?.error;
}

/** A reader sees the events of its run from the first on, and all of them if it stays. */
function assertStreams(world: ControlWorld): void {
  const runs = runsOf(world.sink.events);
  for (const { events, left } of world.read) {
    const [first] = events;
    if (first === undefined) continue;
    const run = runs.find(([start]) => start?.runId === first.runId);
    assert(run !== undefined, "the sink saw the run too");
    assertEquals(events.length, left ? events.length : run.length);
    assert(events.every((event, index) => event.kind === run[index]?.kind));
  }
}

function assertNothingLeft({ agent, asked, clock }: ControlWorld): void {
  for (const { caller, label } of asked) {
    assertEquals(caller?.listenerCount ?? 0, 0, `listeners of ${label}`);
  }
  assertEquals(clock.pending, 0, "timers");
  assertEquals(
    [agent.pendingSteeringCount, agent.pendingFollowUpCount, agent.abort()],
    [0, 0, false],
  );
  assert(
    ["new", "ready", "stopped"].includes(agent.lifecycle),
    `the life cycle is ${agent.lifecycle}`,
  );
  assert(agent.continueRejectionReason !== "agent_active");
}
