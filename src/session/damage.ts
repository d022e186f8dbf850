import type { SessionSerializationError } from "./errors.ts";

/**
 * A finding in a journal, with what its owner can do about it.
 *
 * @param fileName The file of the journal, if it has one.
 */
export function withRemedy(
  damage: SessionSerializationError,
  fileName: string | undefined,
): SessionSerializationError {
  const { line, offset } = damage;
  if (line === null) return damage;
  const journal = fileName === undefined
    ? "the journal"
    : `the file ${fileName}`;
  const restore = `restore ${journal} from a copy`;
  if (line === 1) {
    return damage.remediedBy(`${restore}, or move it away to begin a new one`);
  }
  const whole = line === 2
    ? "the record before it is whole"
    : `the ${line - 1} records before it are whole`;
  const cut = fileName === undefined || offset === null
    ? ""
    : `, or cut it at byte ${offset} to go on without the rest`;
  return damage.remediedBy(`${whole}: ${restore}${cut}`);
}
