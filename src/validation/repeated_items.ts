import { isJsonObject } from "../base/json.ts";

/**
 * Finds the long arrays of a value in which equal items stand; of equal arrays only one.
 *
 * Equal is what JSON Schema calls so: the order of properties makes no difference.
 * Takes time in proportion to the size of the value.
 *
 * @param shortItemCount Arrays with that many items or fewer are not meant.
 */
export function arraysWithRepetition(
  value: unknown,
  shortItemCount: number,
): unknown[][] {
  const numbers = new Map<string, number>();
  const found: unknown[][] = [];
  numberOf(value);
  return found;

  /** A number that equal values share, and no others. */
  function numberOf(value: unknown): number {
    const items = Array.isArray(value) ? value.map(numberOf) : null;
    const text = items !== null
      ? JSON.stringify(items)
      : isJsonObject(value)
      ? textOfObject(value)
      : JSON.stringify(value);
    const known = numbers.get(text);
    if (known !== undefined) return known;
    if (
      items !== null && items.length > shortItemCount &&
      new Set(items).size < items.length
    ) found.push(value as unknown[]);
    numbers.set(text, numbers.size);
    return numbers.size - 1;
  }

  function textOfObject(object: Record<string, unknown>): string {
    const members = Object.keys(object).sort()
      .map((name) => `${JSON.stringify(name)}:${numberOf(object[name])}`);
    return `{${members}}`;
  }
}
