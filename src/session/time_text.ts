import type { Clock } from "../base/ports.ts";
import { SessionSerializationError } from "./errors.ts";

/**
 * The time as journals hold it: RFC 3339 in UTC, with milliseconds.
 *
 * @throws {SessionSerializationError} The clock gives no time that a date can hold.
 */
export function timeText(clock: Clock): string {
  const ms: unknown = clock.now();
  const date = new Date(typeof ms === "number" ? ms : NaN);
  if (!Number.isNaN(date.getTime())) return date.toISOString();
  throw new SessionSerializationError(
    `The clock gives no time to write down; its now() must return milliseconds ` +
      `since the Unix epoch, not ${String(ms)}`,
  );
}
