import {
  Agent,
  AgentConfigurationError,
  type AgentOptions,
  type AgentRunResult,
  contentText,
  MemorySessionStorage,
  SessionHistoryProvider,
  type SessionHistoryProviderOptions,
  type SessionRecordKind,
  type SessionTreeStorage,
} from "../../mod.ts";
import {
  block,
  ScriptedModel,
  silentLogger,
  text,
} from "../../src/testing/mod.ts";
import {
  assertEquals,
  assertRejects,
  assertThrows,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";

const sessionId = "chat";

/** A model that answers with what the users said to it. */
function echoModel(): ScriptedModel {
  return new ScriptedModel(({ messages }) =>
    text(
      messages.filter(({ role }) => role === "user")
        .map(({ content }) => contentText(content ?? "")).join(" "),
    )
  );
}

function agentOn(
  storage: SessionTreeStorage,
  options: Partial<SessionHistoryProviderOptions> = {},
  more: Partial<AgentOptions> = {},
): Agent {
  return new Agent({
    agentId: "helper",
    model: echoModel(),
    logger: silentLogger,
    history: new SessionHistoryProvider({ storage, sessionId, ...options }),
    ...more,
  });
}

/** A storage in memory whose calls pass a gate first. */
class GatedStorage extends MemorySessionStorage {
  /** Called before each checkout. */
  beforeCheckout: () => void | Promise<void> = () => {};
  /** Kind of the record whose next append fails. */
  failing: SessionRecordKind | undefined;

  /** Minds no signal, as a storage of somebody else may do. */
  override async checkout(
    ...[id, options]: Parameters<MemorySessionStorage["checkout"]>
  ): ReturnType<MemorySessionStorage["checkout"]> {
    await this.beforeCheckout();
    return await super.checkout(id, { ...options, signal: undefined });
  }

  override async append(
    ...call: Parameters<MemorySessionStorage["append"]>
  ): ReturnType<MemorySessionStorage["append"]> {
    if (call[0].kind === this.failing) {
      this.failing = undefined;
      throw new Error("the disk is full");
    }
    return await super.append(...call);
  }
}

test("an abort at any moment of the first run costs no memory", async () => {
  const storage = new MemorySessionStorage();
  await agentOn(storage).run("Ann");
  for (let ticks = 0; ticks < 60; ticks++) {
    const agent = agentOn(storage, { onUnfinished: "recover" });
    const first = agent.run("?");
    for (let tick = 0; tick < ticks; tick++) await null;
    agent.abort("stop");
    await first;
    const said = await agent.runText("!");
    assertEquals([said?.startsWith("Ann "), ticks], [true, ticks]);
  }
});

test("a load that fails is made again", async () => {
  const storage = new GatedStorage();
  await agentOn(storage).run("one");
  const agent = agentOn(storage);
  storage.beforeCheckout = () => {
    storage.beforeCheckout = () => {};
    throw new Error("the disk is gone");
  };
  await assertRejects(() => agent.startup(), Error, "the disk is gone");
  assertEquals(await agent.runText("two"), "one two");
});

test("a load that comes after an abort has not reached the agent", async () => {
  // Given up at once, or still waited for.
  for (const abortGraceMs of [0, 10_000]) {
    const storage = new GatedStorage();
    await agentOn(storage).run("one");
    const agent = agentOn(storage, { onUnfinished: "recover" }, {
      runtimePolicy: { abortGraceMs },
    });
    const slow = deferred();
    const entered = deferred();
    storage.beforeCheckout = () => {
      storage.beforeCheckout = () => {};
      entered.resolve();
      return slow.promise;
    };
    const first = agent.run("two");
    await entered.promise;
    agent.abort("stop");
    if (abortGraceMs === 0) await first;
    await settle();
    slow.resolve();
    await first;
    await settle();
    assertEquals(await agent.runText("three"), "one two three");
  }
});

test("an agent goes on after a record that could not be written", async () => {
  const kinds = ["message_appended", "run_finished"] as const;
  for (const kind of kinds) {
    const storage = new GatedStorage();
    const agent = agentOn(storage, { onUnfinished: "recover" });
    await agent.run("one");
    storage.failing = kind;
    const failed = await agent.run("two");
    assertEquals(failed.failure?.code, "persistence_failed", kind);
    assertEquals(await agent.runText("three"), "one two three", kind);
  }
});

test("a task that could not be recorded is not said later", async () => {
  const storage = new GatedStorage();
  const agent = agentOn(storage);
  for (const earlier of ["", "one "]) {
    storage.failing = "run_started";
    const failed = await agent.run("transfer 100");
    assertEquals(failed.failure?.code, "persistence_failed");
    assertEquals(await agent.runText("one"), `${earlier}one`);
  }
});

test("agents that share a provider all see the whole session", async () => {
  const storage = new MemorySessionStorage();
  const history = new SessionHistoryProvider({ storage, sessionId });
  const [one, other] = [1, 2].map(() => agentOn(storage, {}, { history }));
  assertEquals(await one!.runText("a"), "a");
  assertEquals(await other!.runText("b"), "a b");
  assertEquals(await one!.runText("c"), "a b c");
  assertEquals((await storage.load(sessionId))!.messages.length, 6);
});

test("what the next run would load again cannot be replaced", async () => {
  const storage = new MemorySessionStorage();
  const agent = agentOn(storage);
  await agent.run("one");
  assertThrows(
    () => agent.reset(agent.messages.slice(0, 1)),
    AgentConfigurationError,
    'The history provider "session" loads by itself',
  );
  assertEquals(await agent.runText("two"), "one two");
  agent.reset();
  assertEquals(await agent.runText("three"), "one two three");
});

test("a recovery that the agent cannot take over closes nothing", async () => {
  const storage = new MemorySessionStorage();
  const gate = block();
  const writer = agentOn(storage, {}, { model: new ScriptedModel([gate]) });
  const open: Promise<AgentRunResult> = writer.run("one");
  await gate.entered;
  const agent = agentOn(storage);
  const before = await storage.records(sessionId);
  await assertRejects(
    () => agent.recoverSession(storage, { sessionId }),
    AgentConfigurationError,
    "recoverSession() is for agents without one",
  );
  assertEquals(await storage.records(sessionId), before);
  writer.abort();
  await open;
});

test("a storage that cannot do what a session needs is refused", () => {
  const storage = { load() {}, save() {} } as unknown as SessionTreeStorage;
  assertThrows(
    () => new SessionHistoryProvider({ storage, sessionId }),
    TypeError,
    "storage must have a function append()",
  );
});
