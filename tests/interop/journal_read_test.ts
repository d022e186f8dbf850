import { SessionSerializationError } from "../../src/session/errors.ts";
import {
  assertEquals,
  assertRejects,
  assertThrows,
} from "../support/assert.ts";
import { base64Bytes } from "../support/fixtures.ts";
import { test } from "../support/suite.ts";
import { JournalDamage, readJournal } from "./journal_reader.ts";
import {
  type JournalFixture,
  journalFixtures,
  openFixture,
  textOf,
} from "./python_journals.ts";
import {
  wireBranch,
  wireCheckout,
  wireRecord,
  wireSession,
} from "./wire_forms.ts";

// A torn first line was never acknowledged and is as good as absent; no reader in
// JavaScript can tell 1.0 from 1.
const acceptedHere = ["torn-first-record", "integral-float-version"];
const readable = journalFixtures.filter(({ read }) => read.ok);
const refused = journalFixtures.filter(({ read, case: name }) =>
  !read.ok && !acceptedHere.includes(name)
);

for (const { case: name, description } of readable) {
  test(`${name} is read as its writer reads it: ${description}`, {
    case: "SE-I-01",
  }, async () => {
    const { expected: { session_id: id, read }, storage } = openFixture(name);
    const session = await storage.load(id);
    assertEquals(session === null ? null : wireSession(session), read.session);
    assertEquals<unknown>(session?.messages ?? null, read.messages);
    assertEquals(
      (await storage.listBranches(id)).map(wireBranch),
      read.branches,
    );
    assertEquals((await storage.records(id)).map(wireRecord), read.records);
    for (const [branchId, head] of Object.entries(read.heads)) {
      const found = await storage.head(id, { branchId });
      assertEquals<unknown>(found && wireRecord(found), head);
    }
    for (const [branchId, checkout] of Object.entries(read.checkouts)) {
      assertEquals(
        wireCheckout(await storage.checkout(id, { branchId })),
        checkout,
      );
    }
    for (
      const [recordId, checkout] of Object.entries(read.record_checkouts ?? {})
    ) {
      assertEquals(
        wireCheckout(await storage.checkout(id, { recordId })),
        checkout,
      );
    }
  });
}

for (const { case: name, description } of refused) {
  test(
    `${name} is refused and left alone: ${description}`,
    { case: "SE-I-02" },
    async () => {
      const { expected, journal, storage } = openFixture(name);
      const id = expected.session_id;
      await assertRejects(() => storage.load(id), SessionSerializationError);
      await assertRejects(() => storage.records(id), SessionSerializationError);
      await assertRejects(
        () =>
          storage.append({
            kind: "run_started",
            sessionId: id,
            agentId: expected.agent_id,
            sequence: 1,
            data: { run_id: "probe", task: "probe" },
          }),
        SessionSerializationError,
      );
      assertEquals(textOf(journal.bytes), textOf(base64Bytes(expected.bytes)));
    },
  );
}

test("the independent reader agrees with the writer about every journal", () => {
  for (const expected of readable) checkWithReader(expected);
  for (const { bytes } of refused) {
    assertThrows(() => readJournal(base64Bytes(bytes)), JournalDamage);
  }
});

function checkWithReader({ bytes, read }: JournalFixture): void {
  const found = readJournal(base64Bytes(bytes));
  assertEquals<unknown>(found.branches, read.branches);
  assertEquals<unknown>(found.heads, read.heads);
  assertEquals<unknown>(found.records, read.records);
  assertEquals<unknown>(found.sessions.main ?? null, read.session);
  assertEquals<unknown>(found.messages.main ?? null, read.messages);
}
