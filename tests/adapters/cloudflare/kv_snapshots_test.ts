import { KvSessionSnapshots } from "../../../adapters/cloudflare/kv_snapshots.ts";
import { AgentCancelledError } from "../../../src/base/abort.ts";
import {
  SessionSerializationError,
  SessionUnsupportedError,
} from "../../../src/session/errors.ts";
import { AgentSession } from "../../../src/session/session.ts";
import { sessionToJson } from "../../../src/session/session_codec.ts";
import { assertEquals, assertRejects } from "../../support/assert.ts";
import { test } from "../../support/suite.ts";
import { memoryKv } from "./memory_kv.ts";

function sessionOf(id: string): AgentSession {
  const session = new AgentSession(id, "helper");
  session.beginRun({ runId: "r1", sequence: 1 }, "Zero \0 and half \ud83d");
  return session;
}

test("a snapshot comes back as it was saved", async () => {
  const snapshots = new KvSessionSnapshots(memoryKv());
  assertEquals(await snapshots.load("chat"), null);
  await snapshots.save(sessionOf("chat"));
  const found = await snapshots.load(" chat ");
  assertEquals(sessionToJson(found!), sessionToJson(sessionOf("chat")));
});

test("ids of any length and form have keys of their own", async () => {
  const kv = memoryKv();
  const snapshots = new KvSessionSnapshots(kv, { prefix: "s:" });
  const ids = ["a/b", "a%2Fb", "..", "#", "x".repeat(5_000), "界".repeat(900)];
  for (const id of ids) await snapshots.save(sessionOf(id));
  for (const id of ids) {
    assertEquals((await snapshots.load(id))?.sessionId, id);
  }
  const bytes = [...kv.texts.keys()].map((key) =>
    new TextEncoder().encode(key).length
  );
  assertEquals(bytes.filter((count) => count > 512), []);
});

test("a snapshot under a condition is refused, since nothing could check it", {
  case: "SE-N-07",
}, async () => {
  const kv = memoryKv();
  const snapshots = new KvSessionSnapshots(kv);
  assertEquals(snapshots.capabilities.conditionalAppend, "none");
  assertEquals(snapshots.capabilities.durability, "eventual");
  for (const options of [{ expectedHead: null }, { branchId: "idea" }]) {
    await assertRejects(
      () => snapshots.save(sessionOf("chat"), options),
      SessionUnsupportedError,
    );
  }
  assertEquals(kv.texts.size, 0);
});

test("what is no snapshot is reported, and an aborted call does nothing", async () => {
  const kv = memoryKv(new Map([["session/chat", "{"]]));
  const snapshots = new KvSessionSnapshots(kv);
  await assertRejects(() => snapshots.load("chat"), SessionSerializationError);
  const signal = AbortSignal.abort();
  await assertRejects(
    () => snapshots.save(sessionOf("new"), { signal }),
    AgentCancelledError,
  );
  assertEquals(kv.texts.size, 1);
});
