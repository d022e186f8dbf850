/**
 * The skill that a text asks for by name.
 *
 * A mention is `$name`, in the letters of the name, or `skill:name`, in any letters.
 * It must not stand right behind a letter, digit or underscore of ASCII, nor be
 * followed by one, nor by a hyphen with a letter or digit, which would belong to a
 * longer name. The first mention in the text decides.
 *
 * @param names Names of all skills; where several fit at one place, the longest does.
 * @returns Null if the text mentions none.
 */
export function mentionedSkill(
  text: string,
  names: readonly string[],
): string | null {
  const find = nameFinder(names);
  const lengths = [...new Set(names.map(({ length }) => length))]
    .sort((left, right) => right - left);
  for (const { 0: mark, index } of text.matchAll(/(?<!\w)(?:\$|skill:)/gi)) {
    const start = index + mark.length;
    for (const length of lengths) {
      const end = start + length;
      if (/^(\w|-[A-Za-z0-9])/.test(text.slice(end, end + 2))) continue;
      const found = find(text.slice(start, end), mark === "$");
      if (found !== undefined) return found;
    }
  }
  return null;
}

/** Of two names that differ in their letters' case alone, finds the one that is really there. */
function nameFinder(names: readonly string[]) {
  const exact = new Set(names);
  // Of several, the first in order.
  const folded = new Map(
    names.toReversed().map((name) => [name.toLowerCase(), name]),
  );
  return (written: string, exactly: boolean): string | undefined => {
    if (exact.has(written)) return written;
    return exactly ? undefined : folded.get(written.toLowerCase());
  };
}
