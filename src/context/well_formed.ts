import { deepFreeze, setOwn } from "../base/freeze.ts";
import { isJsonObject } from "../base/json.ts";

const loneSurrogates = /[\ud800-\udfff]/gu;

/**
 * Replaces halves of surrogate pairs in all texts of a JSON value by U+FFFD,
 * because providers refuse a request that holds one.
 *
 * @returns The value itself if there is none.
 */
export function wellFormed<T>(value: T): T {
  return clean(value) as T;
}

function clean(value: unknown): unknown {
  if (typeof value === "string") {
    return value.replace(loneSurrogates, "\ufffd");
  }
  if (Array.isArray(value)) {
    const items = value.map(clean);
    return items.some((item, index) => item !== value[index])
      ? deepFreeze(items)
      : value;
  }
  if (!isJsonObject(value)) return value;
  const members: Record<string, unknown> = {};
  let changed = false;
  for (const [key, member] of Object.entries(value)) {
    const sent = clean(member);
    changed ||= sent !== member;
    setOwn(members, key, sent);
  }
  return changed ? deepFreeze(members) : value;
}
