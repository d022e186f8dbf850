import { isJsonObject } from "../base/json.ts";
import { requireText } from "../base/require.ts";
import { requireSkillPath } from "./path.ts";

/** The file that makes a directory a skill. */
export const SKILL_FILE = "SKILL.md";

/** Files next to it that are shown together with it. */
export const SHOWN_RESOURCES = ["template.md", "examples/sample.md"] as const;

/** The most bytes of UTF-8 that a file of a skill may have, 256 KiB. */
export const MAX_SKILL_FILE_BYTES = 262_144;

/** A directory that holds a skill. */
export interface SkillRef {
  /** Name of the directory; unique within its source. */
  readonly dir: string;
  /**
   * Files that are in it, as paths relative to it. A source that names them saves
   * reads of files that are not there; it must then name at least `SKILL.md`,
   * `template.md` and `examples/sample.md` if they are.
   */
  readonly files?: readonly string[] | undefined;
}

/** What may be said to a source. */
export interface SkillSourceOptions {
  /** Aborts what is going on. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Where skills come from: a folder, an object in memory, a bucket.
 *
 * The manager lists a source once, reads the `SKILL.md` of every directory, and
 * reads other files when they are needed. It owns nothing of the source and closes
 * nothing. Both methods may reject; that fails what was going on.
 *
 * @example Skills out of a database
 * ```ts
 * import type { SkillSource } from "@ejagent/core/skills";
 *
 * const rows = new Map([["greeting/SKILL.md", "Say hello first."]]);
 * const source: SkillSource = {
 *   id: "database",
 *   list: () => Promise.resolve([{ dir: "greeting", files: ["SKILL.md"] }]),
 *   read: (dir, path) => Promise.resolve(rows.get(`${dir}/${path}`)),
 * };
 * ```
 */
export interface SkillSource {
  /** Unique among the sources of a manager; part of locations. */
  readonly id: string;
  /** The directories that hold a `SKILL.md`, in any order. */
  list(options?: SkillSourceOptions): Promise<readonly SkillRef[]>;
  /**
   * Reads a file.
   *
   * @param dir A directory that `list` gave.
   * @param path Relative to it; only names with `/` between them, already checked.
   * @returns The text; undefined if there is no such file.
   */
  read(
    dir: string,
    path: string,
    options?: SkillSourceOptions,
  ): Promise<string | undefined>;
  /**
   * Says where a file is, in words that the model can use to read it. Called after
   * `list`.
   *
   * @default {skill://id/dir/path}
   */
  locate?(dir: string, path: string): string;
}

/** All skills of a source with all their files, as plain JSON. */
export interface SkillManifest {
  /** Becomes the id of the source. */
  readonly id: string;
  /** The skills; `files` holds texts by path, `SKILL.md` among them. */
  readonly skills: readonly {
    readonly dir: string;
    readonly files: Readonly<Record<string, string>>;
  }[];
}

/**
 * Skills held in memory.
 *
 * @param files Texts by path, `release_notes/SKILL.md` for instance. Stays the
 * caller's; what is added to it is seen when the manager looks again.
 * @param options `id` is part of locations.
 *
 * @example One skill
 * ```ts
 * import { memorySkillSource, SkillManager } from "@ejagent/core/skills";
 * import { equal } from "node:assert/strict";
 *
 * const source = memorySkillSource({ "pdf/SKILL.md": "Read page by page." });
 * const skills = new SkillManager({ source });
 * await skills.discover();
 * equal(skills.get("pdf").location, "skill://memory/pdf/SKILL.md");
 * ```
 */
export function memorySkillSource(
  files: Readonly<Record<string, string>>,
  options: { readonly id?: string } = {},
): SkillSource {
  const id = requireText("id", options.id ?? "memory");
  return {
    id,
    list: () => Promise.resolve(listDirectories(Object.keys(files))),
    read: (dir, path) => Promise.resolve(ownText(files, `${dir}/${path}`)),
  };
}

/**
 * Skills out of a manifest that was made when a program was built, so that they can
 * be where no files are.
 *
 * @throws {TypeError} If the manifest has another form.
 * @throws {SkillError} If a file in it has a path that leads out of its skill.
 *
 * @example A manifest that is imported
 * ```ts
 * import { manifestSkillSource, SkillManager } from "@ejagent/core/skills";
 * import { equal } from "node:assert/strict";
 *
 * // import manifest from "./skills.json" with { type: "json" };
 * const manifest = {
 *   id: "bundle",
 *   skills: [{ dir: "pdf", files: { "SKILL.md": "Read page by page." } }],
 * };
 * const skills = new SkillManager({ source: manifestSkillSource(manifest) });
 * await skills.discover();
 * equal(skills.get("pdf").location, "skill://bundle/pdf/SKILL.md");
 * ```
 */
export function manifestSkillSource(manifest: SkillManifest): SkillSource {
  requireManifest(manifest);
  const skills = new Map(manifest.skills.map(({ dir, files }) => [dir, files]));
  const refs = manifest.skills.map(({ dir, files }) => ({
    dir,
    files: Object.keys(files),
  }));
  return {
    id: manifest.id,
    list: () =>
      Promise.resolve(refs.filter(({ files }) => files.includes(SKILL_FILE))),
    read: (dir, path) => Promise.resolve(ownText(skills.get(dir) ?? {}, path)),
  };
}

/** The directories that hold a `SKILL.md`, out of the paths of all files. */
export function listDirectories(paths: readonly string[]): SkillRef[] {
  const directories = new Map<string, string[]>();
  for (const path of paths) {
    const slash = requireSkillPath(path).indexOf("/");
    if (slash < 0) continue;
    const dir = path.slice(0, slash);
    const files = directories.get(dir) ?? [];
    files.push(path.slice(slash + 1));
    directories.set(dir, files);
  }
  return [...directories]
    .filter(([, files]) => files.includes(SKILL_FILE))
    .map(([dir, files]) => ({ dir, files }));
}

function ownText(
  files: Readonly<Record<string, string>>,
  path: string,
): string | undefined {
  return Object.hasOwn(files, path) ? files[path] : undefined;
}

function requireManifest(manifest: unknown): void {
  const { id, skills } = isJsonObject(manifest) ? manifest : {};
  requireText("manifest.id", id);
  if (!Array.isArray(skills)) {
    throw new TypeError("manifest.skills must be an array");
  }
  for (const { dir, files } of skills.map((skill) => skill ?? {})) {
    requireText("dir of a skill", dir);
    requireSkillPath(dir);
    if (!isJsonObject(files)) {
      throw new TypeError(`files of skill "${dir}" must be an object`);
    }
    for (const [path, text] of Object.entries(files)) {
      requireSkillPath(path);
      if (typeof text !== "string") {
        throw new TypeError(`File "${path}" of skill "${dir}" must be a text`);
      }
    }
  }
}
