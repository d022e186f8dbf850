import { errorText } from "../base/errors.ts";
import { requireText, requireType } from "../base/require.ts";
import { SkillError } from "./errors.ts";
import { tooLarge } from "./file.ts";
import { outsideSkill, requireSkillPath } from "./path.ts";
import {
  MAX_SKILL_FILE_BYTES,
  SHOWN_RESOURCES,
  SKILL_FILE,
  type SkillSource,
} from "./source.ts";

/** What a folder of skills needs from a platform. */
export interface SkillFiles {
  /** The absolute path behind all links; undefined if nothing is there or a link leads nowhere. */
  realPath(path: string | URL): Promise<string | undefined>;
  /** What a real path leads to. */
  status(path: string): Promise<SkillFileStatus>;
  /** Names of everything in a directory, in any order. */
  names(directory: string): Promise<readonly string[]>;
  /** The content of a file. */
  read(path: string): Promise<Uint8Array>;
}

/** What a path leads to. */
export interface SkillFileStatus {
  /** What it is. */
  readonly kind: "file" | "directory" | "other";
  /** Its size in bytes. */
  readonly sizeBytes: number;
}

/** How a folder of skills is read. */
export interface SkillFolderOptions {
  /** Id of the source. @default {the path of the folder} */
  readonly id?: string | undefined;
}

/** A source that reads a folder. */
export interface SkillFolder extends SkillSource {
  /**
   * The paths of all files in the directory of a skill, in order; hidden ones are left
   * out.
   *
   * @throws {SkillError} If the directory could not be looked into.
   */
  files(dir: string): Promise<readonly string[]>;
}

/**
 * The skills in a folder: its direct subdirectories that hold a `SKILL.md`.
 *
 * Hidden names and `node_modules` are skipped, also inside of skills. Links are
 * followed, but nothing is read whose real path is outside of the directory of its
 * skill, that has more than 256 KiB, or is no UTF-8. A directory that cannot be looked
 * into is a broken skill and stops no other.
 *
 * @param files The platform.
 * @param root The folder.
 */
export function skillFolder(
  files: SkillFiles,
  root: string | URL,
  options: SkillFolderOptions = {},
): SkillFolder {
  const isPlace = typeof root === "string" || root instanceof URL;
  requireType(isPlace, "root", "a path or a file: URL");
  const id = requireText("id", options.id ?? String(root));
  /** Lists only add to it: others may still read. */
  const listed = new Map<string, ListedDirectory>();

  return {
    id,
    async list() {
      const folder = await requireFolder(files, root);
      const refs = [];
      for (const dir of (await files.names(folder)).toSorted()) {
        if (isHidden(dir)) continue;
        const found = await findSkill(files, `${folder}/${dir}`);
        if (found === undefined) continue;
        listed.set(dir, found);
        refs.push({ dir, files: found.files });
      }
      return refs;
    },
    async read(dir, path) {
      const hidden = requireSkillPath(path).split("/").some(isHidden);
      const directory = requireWhole(listed.get(dir));
      if (hidden || directory === undefined) return undefined;
      return await readText(files, directory, path);
    },
    locate(dir, path) {
      return `${listed.get(dir)?.directory ?? `${root}/${dir}`}/${path}`;
    },
    async files(dir) {
      const directory = requireWhole(listed.get(dir));
      return directory === undefined ? [] : await allFiles(files, directory);
    },
  };
}

/** A directory that holds a skill, or cannot be looked into. */
interface ListedDirectory {
  /** Its real path, if that could be found. */
  readonly directory: string;
  readonly files: readonly string[];
  /** Why it cannot be looked into. */
  readonly error?: SkillError;
}

function requireWhole(listed: ListedDirectory | undefined): string | undefined {
  if (listed?.error !== undefined) throw listed.error;
  return listed?.directory;
}

async function requireFolder(files: SkillFiles, root: string | URL) {
  const folder = await files.realPath(root);
  if (folder !== undefined && await isA("directory", files, folder)) {
    return folder;
  }
  throw new SkillError(`skills root not found: ${root}`);
}

/**
 * What a directory holds of a skill; undefined if nothing. One that cannot be looked
 * into is listed as well, so that it is told and does not stop the others.
 */
async function findSkill(
  files: SkillFiles,
  path: string,
): Promise<ListedDirectory | undefined> {
  try {
    const directory = await files.realPath(path);
    if (directory === undefined) throw new Error("The link leads nowhere");
    return await holdsSkill(files, directory)
      ? { directory, files: await presentFiles(files, directory) }
      : undefined;
  } catch (cause) {
    const error = new SkillError(
      `A directory cannot be looked into: ${path}: ${errorText(cause)}`,
      { location: path, cause },
    );
    return { directory: path, files: [SKILL_FILE], error };
  }
}

async function holdsSkill(
  files: SkillFiles,
  directory: string,
): Promise<boolean> {
  if (!await isA("directory", files, directory)) return false;
  // Some file systems would find skill.md by that name as well.
  const names = await files.names(directory);
  if (!names.includes(SKILL_FILE)) return false;
  const real = await files.realPath(`${directory}/${SKILL_FILE}`);
  return real === undefined || await isA("file", files, real);
}

async function presentFiles(files: SkillFiles, directory: string) {
  const present: string[] = [SKILL_FILE];
  for (const path of SHOWN_RESOURCES) {
    const real = await files.realPath(`${directory}/${path}`);
    if (real !== undefined && await isA("file", files, real)) {
      present.push(path);
    }
  }
  return present;
}

async function readText(files: SkillFiles, directory: string, path: string) {
  const location = `${directory}/${path}`;
  try {
    const real = await files.realPath(location);
    if (real === undefined) return undefined;
    if (!isInside(real, directory)) throw outsideSkill();
    const { kind, sizeBytes } = await files.status(real);
    if (kind !== "file") return undefined;
    if (sizeBytes > MAX_SKILL_FILE_BYTES) throw tooLarge(location);
    return decode(await files.read(real), location);
  } catch (cause) {
    if (cause instanceof SkillError) throw cause;
    throw new SkillError(
      `A file of a skill cannot be read: ${location}: ${errorText(cause)}`,
      { location, cause },
    );
  }
}

function decode(bytes: Uint8Array, location: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new SkillError(`A file of a skill must be UTF-8: ${location}`, {
      location,
      cause,
    });
  }
}

/** Links to directories are not followed: what they lead to is either found anyway or outside. */
async function allFiles(files: SkillFiles, directory: string) {
  const found: string[] = [];
  await walk(directory, "");
  return found;

  async function walk(parent: string, prefix: string): Promise<void> {
    for (const name of (await files.names(parent)).toSorted()) {
      const real = await files.realPath(`${parent}/${name}`);
      if (isHidden(name) || real === undefined) continue;
      if (!isInside(real, directory)) continue;
      const { kind } = await files.status(real);
      if (kind === "file") found.push(prefix + name);
      if (kind === "directory" && isSame(real, `${parent}/${name}`)) {
        await walk(real, `${prefix}${name}/`);
      }
    }
  }
}

async function isA(
  kind: SkillFileStatus["kind"],
  files: SkillFiles,
  path: string,
): Promise<boolean> {
  return (await files.status(path)).kind === kind;
}

function isHidden(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}

function isInside(path: string, directory: string): boolean {
  const parent = directory.replace(/[\\/]$/, "");
  return path.startsWith(parent) && /^[\\/]/.test(path.slice(parent.length));
}

/** Windows writes real paths with its own separator. */
function isSame(path: string, other: string): boolean {
  return path.replaceAll("\\", "/") === other.replaceAll("\\", "/");
}
