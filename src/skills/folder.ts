import { requireText } from "../base/require.ts";
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
  /** The absolute path behind all links; undefined if nothing is there. */
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
  /** The paths of all files in the directory of a skill, in order; hidden ones are left out. */
  files(dir: string): Promise<readonly string[]>;
}

/**
 * The skills in a folder: its direct subdirectories that hold a `SKILL.md`.
 *
 * Hidden directories and `node_modules` are skipped. Links are followed, but nothing
 * is read whose real path is outside of the directory of its skill, that has more than
 * 256 KiB, or is no UTF-8.
 *
 * @param files The platform.
 * @param root The folder.
 */
export function skillFolder(
  files: SkillFiles,
  root: string | URL,
  options: SkillFolderOptions = {},
): SkillFolder {
  const id = requireText("id", options.id ?? String(root));
  /** Real paths of the directories that were listed. */
  const directories = new Map<string, string>();

  return {
    id,
    async list() {
      const folder = await requireFolder(files, root);
      directories.clear();
      const refs = [];
      for (const dir of (await files.names(folder)).toSorted()) {
        const directory = await skillDirectory(files, folder, dir);
        if (directory === undefined) continue;
        directories.set(dir, directory);
        refs.push({ dir, files: await presentFiles(files, directory) });
      }
      return refs;
    },
    async read(dir, path) {
      const directory = directories.get(dir);
      if (directory === undefined) return undefined;
      return await readText(files, directory, requireSkillPath(path));
    },
    locate(dir, path) {
      return `${directories.get(dir) ?? `${root}/${dir}`}/${path}`;
    },
    async files(dir) {
      const directory = directories.get(dir);
      return directory === undefined ? [] : await allFiles(files, directory);
    },
  };
}

async function requireFolder(files: SkillFiles, root: string | URL) {
  const folder = await files.realPath(root);
  if (folder !== undefined && await isA("directory", files, folder)) {
    return folder;
  }
  throw new SkillError(`skills root not found: ${root}`);
}

/** The real path of a directory that holds a skill; undefined if it does not. */
async function skillDirectory(files: SkillFiles, folder: string, dir: string) {
  if (isHidden(dir)) return undefined;
  const directory = await files.realPath(`${folder}/${dir}`);
  if (directory === undefined) return undefined;
  if (!await isA("directory", files, directory)) return undefined;
  // Some file systems would find skill.md by that name as well.
  const names = await files.names(directory);
  if (!names.includes(SKILL_FILE)) return undefined;
  const isFile = await isA("file", files, `${directory}/${SKILL_FILE}`);
  return isFile ? directory : undefined;
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
  const real = await files.realPath(location);
  if (real === undefined) return undefined;
  if (!isInside(real, directory)) throw outsideSkill();
  const { kind, sizeBytes } = await files.status(real);
  if (kind !== "file") return undefined;
  if (sizeBytes > MAX_SKILL_FILE_BYTES) throw tooLarge(location);
  const bytes = await files.read(real);
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
