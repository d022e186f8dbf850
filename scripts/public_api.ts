/**
 * Writes `tests/gates/api.snap.txt`: every public symbol of every entry with the names of its
 * members and a fingerprint of its signature, so that a change of the public surface is seen.
 *
 * @module
 */

import { readEntries } from "./manifest.ts";
import { readFromDeno } from "./run.ts";

/** Where the list is kept. */
export const publicApiFile = "tests/gates/api.snap.txt";

/** The list as it follows from the code. */
export async function publicApi(): Promise<string> {
  const entries = readEntries();
  const text = await readFromDeno(
    "doc",
    "--json",
    ...entries.map((entry) => entry.file),
  );
  const { nodes } = JSON.parse(text) as Documentation;
  const lines: string[] = [];
  for (const { key, file } of entries) {
    const [, module] = Object.entries(nodes).find(([url]) =>
      url.endsWith(`/${file}`)
    ) ?? [];
    for (const symbol of module?.symbols ?? []) {
      lines.push(
        await describe(key, symbol),
      );
    }
  }
  return `${lines.sort().join("\n")}\n`;
}

if (import.meta.main) {
  await Deno.writeTextFile(publicApiFile, await publicApi());
}

interface Documentation {
  readonly nodes: Readonly<
    Record<string, { readonly symbols: readonly PublicSymbol[] }>
  >;
}

interface PublicSymbol {
  readonly name: string;
  readonly declarations: readonly Declaration[];
}

interface Declaration {
  readonly kind: string;
  readonly declarationKind: string;
  readonly def?: {
    readonly properties?: readonly Member[];
    readonly methods?: readonly Member[];
  };
}

interface Member {
  readonly name: string;
  readonly accessibility?: string;
}

async function describe(
  key: string,
  { name, declarations }: PublicSymbol,
): Promise<string> {
  const exported = declarations.filter((one) =>
    one.declarationKind === "export"
  );
  const kinds = [...new Set(exported.map((one) => one.kind))].join("+");
  const members = [...new Set(exported.flatMap(memberNames))].sort();
  const shape = members.length === 0 ? "" : ` { ${members.join(", ")} }`;
  return `${key} ${kinds} ${name}${shape} ${await fingerprint(exported)}`;
}

function memberNames({ def }: Declaration): string[] {
  return [...def?.properties ?? [], ...def?.methods ?? []]
    .filter((member) =>
      member.accessibility !== "private" && !member.name.startsWith("#")
    )
    .map((member) => member.name);
}

/** Eight hex digits over everything but comments and places in files. */
async function fingerprint(
  declarations: readonly Declaration[],
): Promise<string> {
  const text = JSON.stringify(declarations, (key, value) => {
    // A reference has no location of its own but that of its target.
    return ["jsDoc", "location", "target", "hasBody"].includes(key)
      ? undefined
      : value;
  });
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(text),
  );
  return [...new Uint8Array(digest).subarray(0, 4)]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
