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
 * KiB, or is no UTF-8. Needs the permission to read the folder and, as the skills are YAML,
 * `--allow-env=LOG_TOKENS,LOG_STREAM`.
 *
 * @param root The folder, as a path or a `file:` URL.
 *
 * @example Skills next to the program
 * ```ts ignore
 * import { fsSkillSource } from "@ejagent/core/deno";
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
  return skillFolder(denoFiles, root, options);
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
 * import { bundleSkills } from "@ejagent/core/deno";
 * import { manifestSkillSource, SkillManager } from "@ejagent/core/skills";
 *
 * const manifest = await bundleSkills("./skills");
 * const source = manifestSkillSource(manifest);
 * await new SkillManager({ source, strict: true }).discover(); // refuses broken ones
 * await Deno.writeTextFile("skills.json", JSON.stringify(manifest));
 * ```
 */
export async function bundleSkills(
  root: string | URL,
  options: BundleSkillsOptions = {},
): Promise<SkillManifest> {
  return await bundleSkillFolder(fsSkillSource(root), options);
}

const denoFiles: SkillFiles = {
  async realPath(path) {
    try {
      return await Deno.realPath(path);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  },
  async status(path) {
    const { isFile, isDirectory, size } = await Deno.stat(path);
    const kind = isFile ? "file" : isDirectory ? "directory" : "other";
    return { kind, sizeBytes: size };
  },
  async names(directory) {
    const names: string[] = [];
    for await (const { name } of Deno.readDir(directory)) names.push(name);
    return names;
  },
  read: (path) => Deno.readFile(path),
};

/** Nothing can be there: what leads there ends, turns in a circle, or has too long a name. */
function isMissing(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound ||
    error instanceof Deno.errors.NotADirectory ||
    error instanceof Deno.errors.FilesystemLoop ||
    (error as { code?: unknown }).code === "ENAMETOOLONG";
}
