/** A tool under the names that its server and the configuration give it. */
export interface RawToolName {
  /** Name of the server in the configuration. */
  readonly server: string;
  /** Name of the tool on the server. */
  readonly tool: string;
}

const longestName = 64;
const hashDigits = 8;

/**
 * The names under which tools of servers are shown to the model, in order.
 *
 * It is `server__tool` as long as that is a legal name. Other characters become
 * `_`; a name that is too long, or that is changed and then equals another one,
 * ends in a hash of what it was. The same tools always get the same names.
 *
 * @param held What names stand for already. A tool keeps the name that it has; another
 * one that would get it ends in a hash, or gets no name if that is held as well.
 */
export function exposedToolNames(
  tools: readonly RawToolName[],
  held: ReadonlyMap<string, RawToolName> = new Map(),
): readonly (string | undefined)[] {
  const kept = new Map([...held].map(([name, tool]) => [keyOf(tool), name]));
  const raw = tools.map(({ server, tool }) => `${server}__${tool}`);
  const legal = raw.map(toLegalCharacters);
  const counts = new Map<string, number>();
  for (const name of legal) counts.set(name, (counts.get(name) ?? 0) + 1);
  return legal.map((name, index) => {
    const own = kept.get(keyOf(tools[index]!));
    if (own !== undefined) return own;
    const hashed = withHash(name, raw[index]!);
    const ambiguous = name !== raw[index] && counts.get(name)! > 1;
    const wanted = ambiguous || name.length > longestName ? hashed : name;
    return [wanted, hashed].find((name) => !held.has(name));
  });
}

function keyOf({ server, tool }: RawToolName): string {
  return JSON.stringify([server, tool]);
}

/** What the exposed names of a server's tools begin with. */
export function exposedPrefix(server: string): string {
  return toLegalCharacters(`${server}__`).slice(0, keptLength);
}

const keptLength = longestName - hashDigits - 1;

function toLegalCharacters(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/gu, "_");
}

function withHash(name: string, raw: string): string {
  const hash = fnv1a(raw).toString(16).padStart(hashDigits, "0");
  return `${name.slice(0, keptLength)}_${hash}`;
}

/** @see FNV-1a with 32 bits, for the two numbers. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return hash >>> 0;
}
