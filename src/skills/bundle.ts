import { SkillError } from "./errors.ts";
import { readFile, readSkillFile } from "./file.ts";
import type { SkillFolder } from "./folder.ts";
import { SKILL_FILE, type SkillManifest } from "./source.ts";

/** What to do with files that cannot be part of a manifest. */
export interface BundleSkillsOptions {
  /** Becomes the id of the manifest. @default {"skills"} */
  readonly id?: string | undefined;
  /** Told of files that are too large or no text; they are left out. */
  readonly onLeftOut?: ((error: SkillError) => void) | undefined;
}

/**
 * Puts the skills of a folder with all their texts into one JSON document, to be
 * imported where there are no files.
 *
 * @throws {SkillError} If the folder does not exist or holds no skill, or a `SKILL.md`
 * cannot be read.
 */
export async function bundleSkillFolder(
  folder: SkillFolder,
  options: BundleSkillsOptions = {},
): Promise<SkillManifest> {
  const skills = [];
  for (const { dir } of await folder.list()) {
    const texts = new Map([[SKILL_FILE, await readSkillFile(folder, dir)]]);
    for (const path of await folder.files(dir)) {
      if (path === SKILL_FILE) continue;
      try {
        const text = await readFile(folder, { dir, path });
        if (text !== undefined) texts.set(path, text);
      } catch (error) {
        if (!(error instanceof SkillError)) throw error;
        options.onLeftOut?.(error);
      }
    }
    skills.push({ dir, files: Object.fromEntries(texts) });
  }
  if (skills.length === 0) {
    throw new SkillError(
      `No directory in ${folder.id} holds a ${SKILL_FILE}`,
      { location: folder.id },
    );
  }
  return { id: options.id ?? "skills", skills };
}
