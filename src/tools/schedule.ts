import type { ModelToolCall } from "../messages/tool.ts";

/** How calls of one answer may run side by side. */
export interface SchedulePolicy {
  /** False makes every call a group of its own. */
  readonly parallelToolCalls: boolean;
  /** Most calls of a group that run at the same time; null for no bound. */
  readonly maxParallelToolCalls: number | null;
}

/**
 * Cuts the calls of one answer into groups that run one after the other.
 *
 * Neighbouring calls of read-only tools form a group; every other call stands
 * alone and so is a barrier in both directions.
 *
 * @param calls In source order.
 * @param isReadOnly Whether a tool may run beside others.
 */
export function groupCalls(
  calls: readonly ModelToolCall[],
  policy: SchedulePolicy,
  isReadOnly: (toolName: string) => boolean,
): readonly (readonly ModelToolCall[])[] {
  const groups: ModelToolCall[][] = [];
  let open: ModelToolCall[] | undefined;
  for (const call of calls) {
    const joins = policy.parallelToolCalls && isReadOnly(call.name);
    if (joins && open !== undefined) {
      open.push(call);
      continue;
    }
    const group = [call];
    groups.push(group);
    open = joins ? group : undefined;
  }
  return groups;
}

/** Cuts a list into pieces of at most `size`; null for one piece. */
export function chunked<T>(
  items: readonly T[],
  size: number | null,
): readonly (readonly T[])[] {
  if (size === null || size >= items.length) return [items];
  const chunks: (readonly T[])[] = [];
  for (let start = 0; start < items.length; start += size) {
    chunks.push(items.slice(start, start + size));
  }
  return chunks;
}
