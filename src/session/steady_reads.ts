import type { JournalFileReader, JournalFileStatus } from "./journal_files.ts";

/** A file whose reads give as many bytes as there are. */
export function fullReads(file: JournalFileReader): JournalFileReader {
  return {
    close: () => file.close(),
    async read(into, position) {
      let filled = 0;
      while (filled < into.length) {
        const rest = into.subarray(filled);
        const count = await file.read(rest, position + filled);
        if (count === 0) break;
        filled += count;
      }
      return filled;
    },
  };
}

/**
 * A file that is read without a lock, with each read as if it happened at one moment.
 *
 * The system copies page by page. While a writer replaces a torn tail, a read may
 * so give the first half of the old line and the second half of the new one. Two
 * reads that agree are free of that: the file itself never mixes the two. So a
 * read during which the file changed is repeated until it agrees with the one
 * before; lines that are only added change nothing of what was read. What comes
 * out of two reads may still be of two moments.
 *
 * @param file Its reads give as many bytes as there are.
 * @param seen The status before the first read.
 * @param look The status now; null if the file is gone.
 */
export function steadyReads(
  file: JournalFileReader,
  seen: JournalFileStatus,
  look: () => JournalFileStatus | null | Promise<JournalFileStatus | null>,
): JournalFileReader {
  let last: JournalFileStatus | null = seen;
  const hasChanged = async () => {
    const before = last;
    last = await look();
    return before?.sizeBytes !== last?.sizeBytes ||
      before?.modifiedMs !== last?.modifiedMs;
  };
  return {
    close: () => file.close(),
    async read(into, position) {
      let count = await file.read(into, position);
      if (!(await hasChanged())) return count;
      const again = new Uint8Array(count);
      for (;;) {
        const agreed = await file.read(again.subarray(0, count), position);
        if (agreed === count && isSame(again, into, count)) return count;
        into.set(again.subarray(0, agreed));
        count = agreed;
      }
    },
  };
}

function isSame(one: Uint8Array, other: Uint8Array, length: number): boolean {
  for (let at = 0; at < length; at++) {
    if (one[at] !== other[at]) return false;
  }
  return true;
}
