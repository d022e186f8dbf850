import type { AgentMessage } from "../messages/message.ts";
import {
  SessionArgumentError,
  SessionSerializationError,
} from "../session/errors.ts";
import { exportJournal, importJournal } from "../session/export.ts";
import { MemoryJournal } from "../session/memory.ts";
import type { SessionCheckout } from "../session/storage.ts";
import { JournalTreeStorage } from "../session/tree_storage.ts";
import { expectEqual, expectRejection } from "./contract.ts";
import {
  answered,
  called,
  compacted,
  continued,
  draftOf,
  finished,
  recordRun,
  recordRuns,
  s,
  started,
  steered,
  toolAnswered,
} from "./session_drafts.ts";
import {
  documentOf,
  otherProgram,
  runIds,
  type StorageCheck,
} from "./storage_subject.ts";

/** What a storage promises to its readers. */
export const readingPromises: Readonly<Record<string, StorageCheck>> = {
  async "a session that was never written does not exist"({ storage }) {
    expectEqual(await storage.load(s), null, "load");
    expectEqual(await storage.checkout(s), null, "checkout");
    expectEqual(await storage.head(s), null, "head");
    expectEqual(await storage.listBranches(s), [], "branches");
    expectEqual(await storage.records(s), [], "records");
    const error = await expectRejection(
      () => storage.checkout(s, { recordId: "anything" }),
      SessionArgumentError,
    );
    expectEqual(error.code, "unknown_record", "code");
    await expectRejection(() => storage.fork(s), SessionArgumentError);
  },

  async "every kind of record reads the same in another program"(subject) {
    const { storage } = subject;
    await storage.append(started("r1", "first"));
    await storage.append(steered("r1", 2, "hurry"));
    await storage.append(called("r1", 3, ["c1", "c2"]));
    await storage.append(toolAnswered("r1", 5, "c1"));
    await storage.append(toolAnswered("r1", 6, "c2"));
    await storage.append(answered("r1", 8, "done"));
    await storage.append(finished("r1", 10));
    await storage.append(compacted("o1", 2, "summary of r1"));
    await storage.append(continued("r2"));
    await storage.append(answered("r2", 3, "more"));
    await storage.append(finished("r2", 5));
    await storage.fork(s, { branchId: "side" });
    await storage.save((await storage.load(s))!);

    const reader = await otherProgram(subject);
    for (const branchId of ["main", "side"]) {
      const mine = await storage.checkout(s, { branchId });
      const theirs = await reader.checkout(s, { branchId });
      expectEqual(viewOf(theirs!), viewOf(mine!), `checkout of ${branchId}`);
    }
    expectEqual(await reader.records(s), await storage.records(s), "records");
    expectEqual(
      await reader.listBranches(s),
      await storage.listBranches(s),
      "branches",
    );
    expectEqual(
      (await reader.load(s))!.messages.length,
      2,
      "number of messages",
    );
  },

  async "texts of all kinds come back unchanged"(subject) {
    const content = '天气 🚀 e\u0301 \u0000 \u2028 \r\n "\\ \ufeff half \ud83d';
    await subject.storage.append(started("r1", content));
    const session = await (await otherProgram(subject)).load(s);
    expectEqual(session!.messages, [{ role: "user", content }], "messages");
  },

  async "a checkpoint is as good as what it stands for"(subject) {
    const { storage } = subject;
    await recordRuns(storage, ["r1", "r2"]);
    const { head, session } = (await storage.checkout(s))!;
    await storage.save(session, { expectedHead: head.recordId });
    await recordRun(storage, "r3");
    const reader = await otherProgram(subject);
    expectEqual(
      documentOf(await reader.load(s)),
      documentOf(await storage.load(s)),
      "session",
    );
    await recordRun(reader, "r4");
    expectEqual(
      await runIds(storage, "main"),
      ["r1", "r2", "r3", "r4"],
      "runs",
    );
    expectEqual(
      (await reader.prepareRetry(s, { runId: "r1" })).task,
      "task of r1",
      "old task",
    );
  },

  async "what is handed out belongs to the caller"({ storage }) {
    const message = { role: "assistant", content: "kept" };
    await storage.append(started("r1"));
    await storage.append(draftOf("message_appended", 3, {
      run_id: "r1",
      message: message as AgentMessage,
    }));
    message.content = "changed";
    const mine = (await storage.load(s))!;
    mine.appendMessage({ runId: "r1", sequence: 4 }, {
      role: "assistant",
      content: "more",
    });
    const contents = (await storage.load(s))!.messages.map(({ content }) =>
      content
    );
    expectEqual(contents, ["task of r1", "kept"], "stored contents");
  },

  async "ids are trimmed"(subject) {
    await subject.storage.append({
      ...started("r1"),
      sessionId: `\t${s} \u0085`,
    });
    const session = await (await otherProgram(subject)).load(` ${s}\n`);
    expectEqual(session?.sessionId, s, "session id");
    await expectRejection(() => subject.storage.load(" "), RangeError);
  },

  async "a journal moves to another storage line by line"({ storage }) {
    await recordRuns(storage, ["r1", "r2"]);
    await storage.fork(s, { branchId: "side" });
    await recordRun(storage, "r3", "side");
    const bytes = await bytesOf(storage);
    const target = new JournalTreeStorage(new MemoryJournal());
    const imported = await importJournal(target, exportJournal(storage, s));
    expectEqual(imported, {
      sessionId: s,
      recordCount: 10,
      ignoredByteCount: 0,
    }, "import");
    expectEqual(await bytesOf(target), bytes, "bytes");
    expectEqual(await runIds(target, "side"), ["r1", "r2", "r3"], "runs");
  },

  async "a damaged line is reported by every call and left as it is"(subject) {
    if (subject.corrupt === undefined) return;
    await recordRun(subject.storage, "r1");
    await subject.corrupt(s);
    const reader = await otherProgram(subject);
    for (
      const call of [
        () => reader.load(s),
        () => reader.records(s),
        () => reader.append(started("r2")),
        () => reader.fork(s),
      ]
    ) {
      const error = await expectRejection(call, SessionSerializationError);
      expectEqual(error.line, 2, "damaged line");
    }
  },
};

function viewOf(
  { branch, head, session }: SessionCheckout,
): unknown {
  return {
    branch,
    head,
    session: documentOf(session),
    messages: session.messages,
  };
}

async function bytesOf(storage: JournalTreeStorage): Promise<number[]> {
  const found: number[] = [];
  for await (const bytes of exportJournal(storage, s)) found.push(...bytes);
  return found;
}
