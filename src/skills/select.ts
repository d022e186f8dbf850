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
  for (const { 0: mark, index } of text.matchAll(/(?<!\w)(?:\$|skill:)/gi)) {
    const rest = text.slice(index + mark.length);
    const fold = mark === "$" ? keep : lower;
    const found = longest(
      names.filter((name) => begins(rest, name, fold)),
      rest,
    );
    if (found !== undefined) return found;
  }
  return null;
}

type Fold = (text: string) => string;

const keep: Fold = (text) => text;
const lower: Fold = (text) => text.toLowerCase();

function begins(rest: string, name: string, fold: Fold): boolean {
  return fold(rest.slice(0, name.length)) === fold(name) &&
    !/^(\w|-[A-Za-z0-9])/.test(rest.slice(name.length));
}

/** Of two names that differ in their letters' case alone, the one that is really there. */
function longest(names: readonly string[], rest: string): string | undefined {
  const exact = (name: string) => Number(rest.startsWith(name));
  return names.toSorted((left, right) =>
    right.length - left.length || exact(right) - exact(left)
  )[0];
}
