import { requireText } from "../../src/base/require.ts";
import { SkillError } from "../../src/skills/errors.ts";
import { isSkillPath } from "../../src/skills/path.ts";
import { listDirectories, type SkillSource } from "../../src/skills/source.ts";
import { type KvNamespace, namesIn } from "./kv_types.ts";

/** The part of an R2 bucket that is used; a binding fits. */
export interface R2Bucket {
  /** Reads an object; null if there is none. */
  get(key: string): Promise<{ text(): Promise<string> } | null>;
  /** Lists objects in the order of their keys, up to a thousand at a time. */
  list(options: R2ListOptions): Promise<R2List>;
}

/** Which objects are listed. */
export interface R2ListOptions {
  /** Beginning of the keys. */
  prefix?: string;
  /** Where the last list ended. */
  cursor?: string;
}

/** A part of a list. */
export interface R2List {
  /** The objects. */
  readonly objects: readonly { readonly key: string }[];
  /** True if more follow. */
  readonly truncated: boolean;
  /** Leads to what follows. */
  readonly cursor?: string;
}

/** Where skills are in a namespace or bucket. */
export interface SkillStoreOptions {
  /** What their keys begin with, `"skills/"` for instance. @default {""} */
  readonly prefix?: string | undefined;
  /** Id of the source. @default {"kv" or "r2"} */
  readonly id?: string | undefined;
}

/**
 * Skills in Workers KV, one file a key: `release_notes/SKILL.md`.
 *
 * What was written a moment ago may not be seen yet.
 *
 * @example
 * ```ts ignore
 * import { kvSkillSource } from "@ejagent/core/cloudflare";
 * import { SkillManager } from "@ejagent/core/skills";
 *
 * const source = kvSkillSource(env.SKILLS, { prefix: "skills/" });
 * const skills = new SkillManager({ source });
 * ```
 */
export function kvSkillSource(
  kv: Pick<KvNamespace, "get" | "list">,
  options: SkillStoreOptions = {},
): SkillSource {
  return storeSource({
    names: (prefix) => namesIn(kv, prefix),
    text: async (name) => await kv.get(name) ?? undefined,
  }, { ...options, id: options.id ?? "kv" });
}

/**
 * Skills in an R2 bucket, one file an object: `release_notes/SKILL.md`.
 *
 * @example
 * ```ts ignore
 * import { r2SkillSource } from "@ejagent/core/cloudflare";
 * import { SkillManager } from "@ejagent/core/skills";
 *
 * const skills = new SkillManager({ source: r2SkillSource(env.BUCKET) });
 * ```
 */
export function r2SkillSource(
  bucket: R2Bucket,
  options: SkillStoreOptions = {},
): SkillSource {
  return storeSource({
    names: (prefix) => objectsIn(bucket, prefix),
    text: async (name) => await (await bucket.get(name))?.text(),
  }, { ...options, id: options.id ?? "r2" });
}

interface TextStore {
  names(prefix: string): Promise<readonly string[]>;
  text(name: string): Promise<string | undefined>;
}

function storeSource(
  store: TextStore,
  options: SkillStoreOptions,
): SkillSource {
  const { prefix = "" } = options;
  return {
    id: requireText("id", options.id),
    async list() {
      const names = await store.names(prefix);
      const paths = names.map((name) => name.slice(prefix.length));
      requireWholePrefix(prefix, paths);
      // Some programs mark a folder by a key that ends in a slash.
      return listDirectories(paths.filter(isSkillPath));
    },
    read: (dir, path) => store.text(`${prefix}${dir}/${path}`),
  };
}

/** With half of a folder's name for a prefix, no key would hold a path. */
function requireWholePrefix(prefix: string, paths: readonly string[]): void {
  if (/^$|\/$/.test(prefix)) return;
  if (paths.some((path) => path.startsWith("/"))) {
    throw new SkillError(
      `The prefix of the keys of skills lacks its slash: give "${prefix}/"`,
    );
  }
}

async function objectsIn(bucket: R2Bucket, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const list = await bucket.list({ prefix, ...(cursor && { cursor }) });
    keys.push(...list.objects.map(({ key }) => key));
    cursor = list.truncated ? list.cursor : undefined;
  } while (cursor !== undefined);
  return keys;
}
