import { readdir, readFile, realpath, stat } from "node:fs/promises";
import {
  bundleSkillFolder,
  type BundleSkillsOptions,
} from "../../src/skills/bundle.ts";
import {
  type SkillFiles,
  type SkillFolder,
  skillFolder,
  type SkillFolderOptions,
} from "../../src/skills/folder.ts";
import type { SkillManifest } from "../../src/skills/source.ts";

/**
 * The skills in a folder: its direct subdirectories that hold a `SKILL.md`.
 *
 * Hidden names and `node_modules` are skipped, also inside of skills. Nothing is read
 * whose real path is outside of the directory of its skill, that has more than 256
 * KiB, or is no UTF-8.
 *
 * @param root The folder, as a path or a `file:` URL.
 *
 * @example Skills next to the program
 * ```ts ignore
 * import { fsSkillSource } from "@ejagent/core/node";
 * import { SkillManager } from "@ejagent/core/skills";
 *
 * const source = fsSkillSource(new URL("./skills", import.meta.url));
 * const skills = new SkillManager({ source });
 * ```
 */
export function fsSkillSource(
  root: string | URL,
  options: SkillFolderOptions = {},
): SkillFolder {
  return skillFolder(nodeFiles, root, options);
}

/**
 * Puts the skills of a folder into one JSON document, to be imported where there are
 * no files, and read there by `manifestSkillSource`.
 *
 * @param root The folder, as a path or a `file:` URL.
 * @throws {SkillError} If the folder does not exist or holds no skill, or a `SKILL.md`
 * cannot be read. What a `SKILL.md` says is not looked at.
 *
 * @example Make a manifest when a Worker is built
 * ```ts ignore
 * import { bundleSkills } from "@ejagent/core/node";
 * import { manifestSkillSource, SkillManager } from "@ejagent/core/skills";
 * import { writeFile } from "node:fs/promises";
 *
 * const manifest = await bundleSkills("./skills");
 * const source = manifestSkillSource(manifest);
 * await new SkillManager({ source, strict: true }).discover(); // refuses broken ones
 * await writeFile("skills.json", JSON.stringify(manifest));
 * ```
 */
export async function bundleSkills(
  root: string | URL,
  options: BundleSkillsOptions = {},
): Promise<SkillManifest> {
  return await bundleSkillFolder(fsSkillSource(root), options);
}

const nodeFiles: SkillFiles = {
  async realPath(path) {
    try {
      return await realpath(path);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  },
  async status(path) {
    const status = await stat(path);
    const kind = status.isFile()
      ? "file"
      : status.isDirectory()
      ? "directory"
      : "other";
    return { kind, sizeBytes: status.size };
  },
  names: (directory) => readdir(directory),
  read: (path) => readFile(path),
};

/** Nothing can be there: what leads there ends, turns in a circle, or has too long a name. */
function isMissing(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return ["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"].includes(String(code));
}
