import * as fs from "node:fs";
import { hostname } from "node:os";
import { pid } from "node:process";
import { nodeFlock } from "../../../adapters/node/file_lock.ts";
import {
  flockHelper,
  type Helper,
  perlHelper,
  shellHelper,
} from "../../../adapters/node/flock_child.ts";
import { leaseLocks } from "../../../adapters/node/lease.ts";
import { JsonlSessionStorage } from "../../../adapters/node/session_storage.ts";
import {
  SessionStorageError,
  SessionUnsupportedError,
} from "../../../src/session/errors.ts";
import type { FileLock } from "../../../src/session/file_lock.ts";
import { AgentSession } from "../../../src/session/session.ts";
import { inDirectory, startProgram } from "../../faults/processes.ts";
import {
  assert,
  assertEquals,
  assertRejects,
  assertThrows,
} from "../../support/assert.ts";
import { test } from "../../support/suite.ts";

const here = { runtimes: ["node", "bun"] as const };

/** Registers a test that gets a directory of its own. */
function locking(
  name: string,
  body: (directory: string) => Promise<void>,
): void {
  test(name, here, () => inDirectory(body));
}

const helpers: Readonly<Record<string, Helper>> = {
  perl: perlHelper,
  sh: shellHelper,
};

for (const [name, helper] of Object.entries(helpers)) {
  locking(
    `${name} holds several locks at once, and more wait their turn`,
    async (directory) => {
      const locks = flockHelper([helper])!;
      const opened: FileLock[] = [];
      for (let n = 0; n < 9; n++) {
        opened.push(await locks.open(`${directory}/${n}.lock`));
      }
      const taken: boolean[] = [];
      for (const lock of opened) taken.push(await lock.tryLock());
      assertEquals(taken.filter((held) => held).length, 7);
      await opened[0]!.unlock();
      assertEquals(await opened[8]!.tryLock(), true);
      for (const lock of opened) await lock.close();
      assertEquals(await opened[1]!.tryLock(), true);
      await locks.close!();
    },
  );

  locking(`${name} says which file it cannot lock`, async (directory) => {
    const locks = flockHelper([helper])!;
    const lock = await locks.open(`${directory}/missing/a.lock`);
    await assertRejects(
      async () => await lock.tryLock(),
      Error,
      `${directory}/missing/a.lock`,
    );
    assertThrows(() => locks.open("two\nlines"), TypeError, "one line");
    await locks.close!();
  });
}

locking("a lock whose helper died is known to be lost", async (directory) => {
  const script = "read -r line; echo held"; // and no more
  const mortal = { command: "sh", args: ["-c", script], needs: [] };
  const locks = flockHelper([mortal])!;
  const lock = await locks.open(`${directory}/a.lock`);
  assertEquals(lock.held!(), false);
  for (let life = 0; life < 2; life++) {
    assertEquals(await lock.tryLock(), true);
    while (lock.held!()) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await lock.unlock(); // what is lost is given back
  }
  await locks.close!();
});

locking(
  "a helper that cannot be started is an error and no endless wait",
  async (directory) => {
    const missing = { command: `${directory}/nothing`, args: [], needs: [] };
    const locks = flockHelper([missing])!;
    const storage = new JsonlSessionStorage(`${directory}/s`, {
      lock: locks,
    });
    await assertRejects(
      () => storage.save(new AgentSession("s", "A")),
      SessionStorageError,
      "helper",
    );
    await storage.close();
  },
);

test("where no program can help there is no helper", here, () => {
  const absent = { ...perlHelper, needs: ["no-such-program-anywhere"] };
  assertEquals(flockHelper([absent]), null);
  assert(flockHelper([absent, shellHelper]) !== null);
});

test("a storage that is left open does not keep the program alive", {
  runtimes: ["node"],
}, () =>
  inDirectory(async (directory) => {
    const leaver = startProgram("tests/faults/leave_program.ts", directory);
    assertEquals(await leaver.line(), "saved 1");
    await leaver.done;
  }));

locking("a storage uses the locks that it is given", async (directory) => {
  const calls: string[] = [];
  const lock = nodeFlock({
    load: () => ({
      func: () => (_descriptor, operation) => {
        calls.push(operation === 6 ? "lock" : "unlock");
        return 0;
      },
    }),
  });
  const storage = new JsonlSessionStorage(directory, { lock });
  await storage.save(new AgentSession("s", "A"));
  await storage.save(new AgentSession("s", "A"));
  await storage.close();
  assertEquals(calls, ["lock", "unlock", "lock", "unlock"]);
});

locking(
  "a package like fs-ext says by its code that a lock is taken",
  async (directory) => {
    const refusals = ["EAGAIN", "EWOULDBLOCK", "ENOLCK"];
    const { open } = nodeFlock({
      flockSync(_descriptor, operation) {
        const code = operation === "exnb" ? refusals.shift() : undefined;
        if (code !== undefined) {
          throw Object.assign(new Error(code), { code });
        }
      },
    });
    const lock = await open(`${directory}/a.lock`);
    assertEquals([await lock.tryLock(), await lock.tryLock()], [
      false,
      false,
    ]);
    assertThrows(() => lock.tryLock(), Error, "ENOLCK");
    assertEquals(await lock.tryLock(), true);
    await lock.close();
  },
);

test("flock that is demanded and missing is refused at once", here, () => {
  assertThrows(
    () =>
      new JsonlSessionStorage(".", { lock: leaseLocks(), requireFlock: true }),
    SessionUnsupportedError,
    "lease",
  );
});

const leaseOf = (path: string) => path.replace(".lock", ".lease");

locking("a lease names its owner and goes with it", async (directory) => {
  const path = `${directory}/s.jsonl.lock`;
  const lock = await leaseLocks().open(path);
  assertEquals(await lock.tryLock(), true);
  const owner = JSON.parse(fs.readFileSync(leaseOf(path), "utf8"));
  assertEquals([owner.pid, owner.host], [pid, hostname()]);
  assertEquals(fs.statSync(leaseOf(path)).mode & 0o777, 0o600);
  await lock.unlock();
  assertEquals(fs.readdirSync(directory), []);
});

locking(
  "a lease of a dead process or of long ago is taken over, a fresh one is not",
  async (directory) => {
    const path = `${directory}/s.jsonl.lock`;
    const lock = await leaseLocks().open(path);
    const leave = (owner: unknown, ageMs = 0) => {
      fs.writeFileSync(leaseOf(path), JSON.stringify(owner));
      const then = new Date(Date.now() - ageMs);
      fs.utimesSync(leaseOf(path), then, then);
    };
    const tries = async () => [await lock.tryLock(), await lock.tryLock()];

    const dead = { token: "t", pid: 2 ** 22 + 1, host: hostname() };
    leave(dead);
    assertEquals(await tries(), [false, true]);
    await lock.unlock();

    leave({ ...dead, pid });
    assertEquals(await tries(), [false, false]);
    leave({ ...dead, host: "elsewhere" });
    assertEquals(await tries(), [false, false]);
    leave({ ...dead, host: "elsewhere" }, 61_000);
    assertEquals(await tries(), [false, true]);
    await lock.unlock();

    fs.writeFileSync(leaseOf(path), ""); // its owner is about to write into it
    assertEquals(await tries(), [false, false]);
    fs.rmSync(leaseOf(path));
    await lock.close();
  },
);

locking(
  "a lease that was taken over is known to be lost and left to its new owner",
  async (directory) => {
    const path = `${directory}/s.jsonl.lock`;
    const lock = await leaseLocks().open(path);
    assertEquals(await lock.tryLock(), true);
    assertEquals(lock.held!(), true);
    fs.writeFileSync(leaseOf(path), JSON.stringify({ token: "other" }));
    assertEquals(lock.held!(), false);
    await lock.unlock();
    assertEquals(fs.existsSync(leaseOf(path)), true);
  },
);

locking(
  "only one of those who find a stale lease removes it",
  async (directory) => {
    const path = `${directory}/s.jsonl.lock`;
    const lock = await leaseLocks().open(path);
    const dead = { token: "t", pid: 2 ** 22 + 1, host: hostname() };
    fs.writeFileSync(leaseOf(path), JSON.stringify(dead));
    fs.mkdirSync(`${leaseOf(path)}.guard`);
    assertEquals([await lock.tryLock(), await lock.tryLock()], [
      false,
      false,
    ]);
    const then = new Date(Date.now() - 61_000); // the other died meanwhile
    fs.utimesSync(`${leaseOf(path)}.guard`, then, then);
    const tries = [1, 2, 3].map(() => lock.tryLock());
    assertEquals(await Promise.all(tries), [false, false, true]);
    await lock.close();
    assertEquals(fs.readdirSync(directory), []);
  },
);
