import { assertEquals } from "../support/assert.ts";

/** Fails unless both texts have the same lines; the message shows only those that differ. */
export function assertSameLines(
  current: string,
  recorded: string,
  remedy: string,
): void {
  const now = new Set(current.split("\n"));
  const then = new Set(recorded.split("\n"));
  assertEquals(
    {
      gone: [...then].filter((line) => !now.has(line)),
      added: [...now].filter((line) => !then.has(line)),
    },
    { gone: [], added: [] },
    remedy,
  );
  // The same lines in another order, or one of them twice.
  assertEquals(current === recorded, true, remedy);
}
