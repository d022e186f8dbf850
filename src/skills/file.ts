import { SkillError } from "./errors.ts";
import {
  MAX_SKILL_FILE_BYTES,
  SKILL_FILE,
  type SkillSource,
  type SkillSourceOptions,
} from "./source.ts";

/** A file of a skill. */
export interface SkillFile {
  /** Directory of the skill. */
  readonly dir: string;
  /** Path of the file, relative to the directory. */
  readonly path: string;
}

/** Where a file of a skill is, in words for the model. */
export function locateFile(
  source: SkillSource,
  { dir, path }: SkillFile,
): string {
  return source.locate?.(dir, path) ?? `skill://${source.id}/${dir}/${path}`;
}

/**
 * Reads a file of a skill.
 *
 * @throws {SkillError} If the file is larger than a file of a skill may be.
 */
export async function readFile(
  source: SkillSource,
  { dir, path, ...options }: SkillFile & SkillSourceOptions,
): Promise<string | undefined> {
  const text = await source.read(dir, path, options);
  if (text !== undefined && isTooLarge(text)) {
    throw tooLarge(locateFile(source, { dir, path }));
  }
  return text;
}

/**
 * Reads the `SKILL.md` of a directory that was listed.
 *
 * @throws {SkillError} If it is not there after all, or too large.
 */
export async function readSkillFile(
  source: SkillSource,
  dir: string,
): Promise<string> {
  const text = await readFile(source, { dir, path: SKILL_FILE });
  if (text !== undefined) return text;
  const location = locateFile(source, { dir, path: SKILL_FILE });
  throw new SkillError(
    `The file is gone, or a link to it leads nowhere: ${location}`,
    { location },
  );
}

/** The answer to a file that has more bytes than a file of a skill may have. */
export function tooLarge(location: string): SkillError {
  return new SkillError(
    `A file of a skill must not have more than ${MAX_SKILL_FILE_BYTES} bytes: ${location}`,
    { location },
  );
}

function isTooLarge(text: string): boolean {
  // A UTF-16 unit takes at most three bytes.
  return text.length * 3 > MAX_SKILL_FILE_BYTES &&
    new TextEncoder().encode(text).length > MAX_SKILL_FILE_BYTES;
}
