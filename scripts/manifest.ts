/** What the tasks and gates read of `deno.json`. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string>>;
  readonly publish: { readonly include: readonly string[] };
}

/** One entry of the package: the key that users import and the file behind it. */
export interface Entry {
  /** `"."` or `"./name"`. */
  readonly key: string;
  /** From the project's root, without a leading `./`. */
  readonly file: string;
}

/** Reads the manifest that owns the facts. */
export function readManifest(): Manifest {
  return JSON.parse(Deno.readTextFileSync("deno.json"));
}

/** The entries of the package in the order of the manifest. */
export function readEntries(): Entry[] {
  return Object.entries(readManifest().exports)
    .map(([key, file]) => ({ key, file: file.replace(/^\.\//, "") }));
}
