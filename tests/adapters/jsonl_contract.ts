import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { env, getuid } from "node:process";
import { SessionStorageError } from "../../src/session/errors.ts";
import type { FileJournalOptions } from "../../src/session/file_journal.ts";
import type { FileLockKind } from "../../src/session/file_lock.ts";
import type { JournalEntry } from "../../src/session/journal.ts";
import { journalFileName } from "../../src/session/jsonl.ts";
import { AgentSession } from "../../src/session/session.ts";
import type { JournalStorageOptions } from "../../src/session/storage.ts";
import type { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { journalContract } from "../../src/testing/journal_contract.ts";
import { silentLogger } from "../../src/testing/ports.ts";
import { storageContract } from "../../src/testing/storage_contract.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertThrows,
} from "../support/assert.ts";
import type { Runtime } from "../support/runtime.ts";
import { test } from "../support/suite.ts";

type FileStorage = JournalTreeStorage & {
  readonly lock: { readonly kind: FileLockKind };
};

type Open = (
  root: string,
  options?: JournalStorageOptions & FileJournalOptions,
) => FileStorage;

/** Registers what every storage over files must do, on the runtime it is for. */
export function jsonlContract(runtime: Runtime, open: Open): void {
  const here = { runtimes: [runtime] };

  for (const { name, run } of journalContract(() => journalUnderTest(open))) {
    test(`JSONL journal: ${name}`, { ...here, case: "SE-N-01" }, run);
  }
  for (const { name, run } of storageContract(() => storageUnderTest(open))) {
    test(`JSONL storage: ${name}`, { ...here, case: "SE-N-01" }, run);
  }

  /** A test with a storage in a directory that does not exist yet. */
  function inRoot(
    name: string,
    options: { readonly case?: string },
    body: (root: string, storage: FileStorage) => Promise<void>,
  ): void {
    test(name, { ...here, ...options }, async () => {
      const { root, remove } = newRoot();
      const storage = open(root);
      try {
        await body(root, storage);
      } finally {
        await storage.close();
        remove();
      }
    });
  }

  test("wrong arguments are named before anything is opened", here, () => {
    const roots = [undefined, null, 3, new URL("file:///sessions")];
    for (const root of roots as unknown[]) {
      assertThrows(() => open(root as string), TypeError, "root must be");
    }
    for (const root of ["", " "]) {
      assertThrows(() => open(root), RangeError, "root must not be blank");
    }
    for (const name of ["clock", "ids", "logger"]) {
      const options = { [name]: 3 } as JournalStorageOptions;
      assertThrows(() => open("sessions", options), TypeError, name);
    }
    const none = null as unknown as JournalStorageOptions;
    assertThrows(() => open("sessions", none), TypeError, "options must be");
  });

  test("a root that is a file is told with what helps", here, async () => {
    const { root, remove } = newRoot();
    fs.writeFileSync(root, "");
    const storage = open(root);
    try {
      await assertRejects(
        () => storage.save(new AgentSession("s", "A")),
        SessionStorageError,
        "check the path of its directory",
      );
    } finally {
      await storage.close();
      remove();
    }
  });

  inRoot("ids stay inside the root, each with a file of its own", {
    case: "SE-K-01",
  }, async (root, storage) => {
    const ids = ["../../outside", "\u00e9", "e\u0301", "/etc/passwd"];
    for (const id of ids) await storage.save(new AgentSession(id, "A"));
    const expected = await Promise.all(ids.map(journalFileName));
    assertEquals(
      fs.readdirSync(root).filter((name) => !name.endsWith(".lock")).sort(),
      [...expected].sort(),
    );
    assertEquals(fs.readdirSync(`${root}/..`), ["sessions"]);
  });

  inRoot("files are the owner's alone", {}, async (root, storage) => {
    await storage.save(new AgentSession("s", "A"));
    const name = await journalFileName("s");
    assertEquals(fs.readdirSync(root).sort(), [name, `${name}.lock`]);
    const modes = [name, `${name}.lock`].map((file) =>
      fs.statSync(`${root}/${file}`).mode & 0o777
    );
    assertEquals(modes, [0o600, 0o600]);
  });

  inRoot("reading a session that is not there creates nothing", {
    case: "SE-K-02",
  }, async (root, storage) => {
    assertEquals(await storage.load("s"), null);
    assertEquals(await storage.listBranches("s"), []);
    assertEquals(fs.existsSync(root), false);
  });

  inRoot("a directory that may only be read can be read", {
    case: "SE-K-02",
  }, async (root, storage) => {
    await storage.save(new AgentSession("s", "A"));
    const name = await journalFileName("s");
    fs.rmSync(`${root}/${name}.lock`);
    fs.chmodSync(root, 0o500);
    const reader = open(root);
    try {
      assertEquals((await reader.load("s"))?.agentId, "A");
      assertEquals(fs.readdirSync(root), [name]);
      if (getuid?.() === 0) return; // root may write anywhere
      await assertRejects(
        () => reader.save(new AgentSession("t", "A")),
        SessionStorageError,
        "permission",
      );
      assertEquals(fs.readdirSync(root), [name]);
    } finally {
      fs.chmodSync(root, 0o700);
      await reader.close();
    }
  });

  inRoot("a root that cannot be a directory is a typed error", {}, async (
    root,
  ) => {
    fs.writeFileSync(root, "a file");
    const storage = open(`${root}/sessions`);
    const error = await assertRejects(
      () => storage.save(new AgentSession("s", "A")),
      SessionStorageError,
    );
    assertEquals([error.code, error.committed], ["session_storage", "no"]);
    await storage.close();
    assertEquals(fs.readFileSync(root, "utf8"), "a file");
  });

  inRoot(
    "the directory may be reached by a link and by two storages",
    {},
    async (
      root,
      storage,
    ) => {
      await storage.save(new AgentSession("s", "A"));
      fs.symlinkSync(root, `${root}-link`);
      const other = open(`${root}-link`);
      const saves = [storage, other].flatMap((each) =>
        [1, 2, 3].map(() => each.save(new AgentSession("s", "A")))
      );
      const records = await Promise.all(saves);
      assertEquals(
        records.map(({ revision }) => revision).sort(),
        [2, 3, 4, 5, 6, 7],
      );
      assertEquals((await storage.records("s")).length, 7);
      await other.close();
    },
  );

  inRoot(
    "a journal that is emptied while it is in use is begun anew",
    {},
    async (
      root,
      storage,
    ) => {
      await storage.save(new AgentSession("s", "A"));
      await storage.save(new AgentSession("s", "A"));
      fs.rmSync(root, { recursive: true });
      assertEquals(await storage.load("s"), null);
      assertEquals(
        (await storage.save(new AgentSession("s", "B"))).revision,
        1,
      );
      assertEquals((await storage.load("s"))?.agentId, "B");
    },
  );

  inRoot("a checkpoint bounds what a later program reads", {}, async (
    root,
    storage,
  ) => {
    for (let n = 0; n < 5; n++) await storage.save(new AgentSession("s", "A"));
    const path = `${root}/${await journalFileName("s")}`;
    const lines = fs.readFileSync(path, "utf8").split("\n");
    fs.writeFileSync(path, lines.with(1, "{}").join("\n"));
    const later = open(root);
    assertEquals((await later.load("s"))?.agentId, "A");
    assertEquals((await later.save(new AgentSession("s", "A"))).revision, 6);
    await assertRejects(() => later.records("s"), Error, "line 2");
    await later.close();
  });

  test("a root may begin with the home directory", here, async () => {
    const { root, remove } = newRoot();
    const home = env.HOME;
    env.HOME = `${root}/..`;
    const storage = open("~/sessions");
    try {
      await storage.save(new AgentSession("s", "A"));
      assertEquals(fs.readdirSync(root).length, 2);
    } finally {
      env.HOME = home;
      await storage.close();
      remove();
    }
  });

  inRoot("the kernel keeps writers apart, and that can be demanded", {}, async (
    root,
    storage,
  ) => {
    assertEquals(storage.lock.kind, "flock");
    const strict = open(root, { requireFlock: true, lockTimeoutMs: 0 });
    await strict.save(new AgentSession("s", "A"));
    await strict.close();
  });

  inRoot("another program's lock is respected, and free at once when it ends", {
    case: "SE-K-04",
  }, async (root, storage) => {
    await storage.save(new AgentSession("s", "A"));
    const path = `${root}/${await journalFileName("s")}.lock`;
    const { holdLock } = await import("../faults/foreign_lock.ts");
    const holder = await holdLock(path);
    const hasty = open(root, { lockTimeoutMs: 50 });
    const start = performance.now();
    const error = await assertRejects(
      () => hasty.save(new AgentSession("s", "A")),
      SessionStorageError,
    );
    assertEquals(error.code, "session_lock_timeout");
    assert(performance.now() - start >= 49);

    const caller = new AbortController();
    const aborted = assertRejects(
      () => storage.save(new AgentSession("s", "A"), { signal: caller.signal }),
      Error,
      "changed my mind",
    );
    caller.abort(new Error("changed my mind"));
    await aborted;
    assertEquals((await hasty.records("s")).length, 1);

    await holder.kill();
    assertEquals((await hasty.save(new AgentSession("s", "A"))).revision, 2);
    await hasty.close();
  });
}

interface Root {
  /** A path that does not exist, alone in its directory. */
  readonly root: string;
  remove(): void;
}

function newRoot(): Root {
  const parent = fs.mkdtempSync(`${tmpdir()}/ejagent-`);
  return {
    root: `${parent}/sessions`,
    remove: () => fs.rmSync(parent, { recursive: true, force: true }),
  };
}

function journalUnderTest(open: Open) {
  const { root, remove } = newRoot();
  const opened: FileStorage[] = [];
  const reopen = () => {
    const storage = open(root);
    opened.push(storage);
    return storage.backend;
  };
  return {
    backend: reopen(),
    reopen,
    async dieWhileAppending(sessionId: string, { line }: JournalEntry) {
      fs.mkdirSync(root, { recursive: true });
      const path = `${root}/${await journalFileName(sessionId)}`;
      fs.appendFileSync(path, line.slice(0, line.length / 2));
    },
    async close() {
      for (const storage of opened) await storage.close();
      remove();
    },
  };
}

function storageUnderTest(open: Open) {
  const { root, remove } = newRoot();
  const opened: FileStorage[] = [];
  const reopen = () => {
    const storage = open(root, { logger: silentLogger });
    opened.push(storage);
    return storage;
  };
  return {
    storage: reopen(),
    reopen,
    async corrupt(sessionId: string) {
      const path = `${root}/${await journalFileName(sessionId)}`;
      const lines = fs.readFileSync(path, "utf8").split("\n");
      fs.writeFileSync(path, lines.with(1, `${lines[1]}}`).join("\n"));
    },
    async close() {
      for (const storage of opened) await storage.close();
      remove();
    },
  };
}
