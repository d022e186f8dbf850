import type { JournalFileStatus } from "../../src/session/journal_files.ts";
import { fullReads, steadyReads } from "../../src/session/steady_reads.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

/** A file whose reads and statuses are told in advance, the last of each for ever. */
function scripted(
  texts: readonly string[],
  sizes: readonly (number | null)[] = [texts[0]!.length],
) {
  const states = { reads: 0, looks: 0, closed: false };
  const next = <T>(list: readonly T[], at: number) => list[at] ?? list.at(-1)!;
  const statusOf = (sizeBytes: number): JournalFileStatus => ({
    identity: "1:1",
    sizeBytes,
    modifiedMs: sizeBytes,
  });
  const file = steadyReads(
    {
      read(into, position) {
        const bytes = new TextEncoder().encode(next(texts, states.reads++));
        const found = bytes.subarray(position).subarray(0, into.length);
        into.set(found);
        return Promise.resolve(found.length);
      },
      close: () => void (states.closed = true),
    },
    statusOf(texts[0]!.length),
    () => {
      const size = next(sizes, states.looks++);
      return size === null ? null : statusOf(size);
    },
  );
  return { file, states };
}

async function readAll(
  { file }: ReturnType<typeof scripted>,
  wanted = 10,
): Promise<string> {
  const into = new Uint8Array(wanted);
  const count = await file.read(into, 0);
  return new TextDecoder().decode(into.subarray(0, count));
}

test("a file that stays as it is is read once", async () => {
  const script = scripted(["abc", "never"]);
  assertEquals(await readAll(script), "abc");
  assertEquals(script.states.reads, 1);
});

test("a read during which lines were added is repeated once", async () => {
  const script = scripted(["abc", "abcdef"], [6]);
  assertEquals(await readAll(script), "abc");
  assertEquals(script.states.reads, 2);
  assertEquals(await readAll(script), "abcdef");
  assertEquals(script.states.reads, 3);
});

test("a read that mixed two lines is repeated until two agree", async () => {
  const script = scripted(["oldNEW", "newNEW", "newNEW"], [7]);
  assertEquals(await readAll(script), "newNEW");
  assertEquals(script.states.reads, 3);
});

test("a read of a tail that was cut meanwhile gives what is left", async () => {
  const script = scripted(["oldtorn", "old", "old"], [3]);
  assertEquals(await readAll(script), "old");
});

test("a file that is gone is read to its end", async () => {
  const script = scripted(["abc"], [null]);
  assertEquals(await readAll(script), "abc");
  await script.file.close();
  assertEquals(script.states.closed, true);
});

test("a read that comes in pieces is put together", async () => {
  const bytes = new TextEncoder().encode("abcdefg");
  const file = fullReads({
    read(into, position) {
      const piece = bytes.subarray(position, position + 2);
      into.set(piece.subarray(0, into.length));
      return Math.min(piece.length, into.length);
    },
    close() {},
  });
  const into = new Uint8Array(5);
  assertEquals(await file.read(into, 1), 5);
  assertEquals(new TextDecoder().decode(into), "bcdef");
  assertEquals(await file.read(into, 5), 2);
});
