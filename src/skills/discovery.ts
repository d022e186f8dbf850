import { SkillError } from "./errors.ts";
import { frontMatterWarning, parseSkillMarkdown } from "./front_matter.ts";
import { locateFile, readFile, readSkillFile } from "./file.ts";
import { readSkillFields, type Skill } from "./skill.ts";
import {
  SHOWN_RESOURCES,
  SKILL_FILE,
  type SkillRef,
  type SkillSource,
} from "./source.ts";

/** Something about a skill that its author should know. */
export interface SkillDiagnostic {
  /**
   * `"left_out"`: the skill cannot be used. `"unusual"`: it can, but others may stumble.
   * `"no_skills"`: the source holds none.
   */
  readonly kind: "left_out" | "unusual" | "no_skills";
  /** What it is, without a final period. */
  readonly message: string;
  /** The file; for `"no_skills"` the id of the source. */
  readonly location: string;
  /** Why the skill was left out. */
  readonly cause?: unknown;
}

/** A skill together with what is known of its files. */
export interface FoundSkill {
  /** The skill. */
  readonly skill: Skill;
  /** Where it comes from. */
  readonly source: SkillSource;
  /** The files that are shown when it is active, `SKILL.md` first. */
  readonly shown: readonly string[];
  /** Texts that have been read, by path. */
  readonly texts: Map<string, string>;
}

/** What was found in all sources. */
export interface Discovery {
  /** By name, in the order of the sources and in each by the name of the directory. */
  readonly skills: ReadonlyMap<string, FoundSkill>;
  /** In the same order. */
  readonly diagnostics: readonly SkillDiagnostic[];
}

/**
 * Looks for all skills and reads what they say about themselves.
 *
 * @param strict True rejects for a broken skill or a name that two sources use.
 * @throws {SkillError} If one source uses a name twice; what the sources throw.
 */
export async function discoverSkills(
  sources: readonly SkillSource[],
  strict: boolean,
): Promise<Discovery> {
  const skills = new Map<string, FoundSkill>();
  const diagnostics: SkillDiagnostic[] = [];
  for (const source of sources) {
    const readings = await readSkills(source);
    if (readings.length === 0) diagnostics.push(noSkills(source));
    for (const reading of readings) {
      const { location, warnings } = reading;
      try {
        const found = requireUsable(reading, skills);
        skills.set(found.skill.name, found);
        for (const message of warnings) {
          diagnostics.push({ kind: "unusual", message, location });
        }
      } catch (cause) {
        if (strict || !(cause instanceof SkillError)) throw cause;
        const { message } = cause;
        diagnostics.push({ kind: "left_out", message, location, cause });
      }
    }
  }
  return { skills, diagnostics };
}

function noSkills({ id }: SkillSource): SkillDiagnostic {
  return {
    kind: "no_skills",
    message:
      `Nothing in it is a skill, which is a directory with a ${SKILL_FILE}`,
    location: id,
  };
}

/** What came of reading one directory. */
interface Reading {
  readonly location: string;
  readonly found?: FoundSkill;
  readonly error?: unknown;
  readonly warnings: readonly string[];
}

/** Programs may keep only so many files and connections open; macOS grants 256 files. */
const readAtOnce = 16;

/** Reads all directories, several at once; the result is in order. */
async function readSkills(source: SkillSource): Promise<readonly Reading[]> {
  const refs = [...await source.list()].sort(byDirectory);
  const readings: Reading[] = [];
  const waiting = refs.entries();
  await Promise.all(Array.from({ length: readAtOnce }, async () => {
    for (const [index, ref] of waiting) {
      readings[index] = await tryToRead(source, ref);
    }
  }));
  const names = new Set<string>();
  for (const { found, location } of readings) {
    if (found === undefined) continue;
    const { name } = found.skill;
    if (names.has(name)) throw duplicateName(name, location);
    names.add(name);
  }
  return readings;
}

async function tryToRead(source: SkillSource, ref: SkillRef): Promise<Reading> {
  const location = locateFile(source, { dir: ref.dir, path: SKILL_FILE });
  try {
    return { location, ...await readSkill(source, ref, location) };
  } catch (error) {
    return { location, error, warnings: [] };
  }
}

async function readSkill(source: SkillSource, ref: SkillRef, location: string) {
  const { dir } = ref;
  const text = await readSkillFile(source, dir);
  const { frontMatter } = parseSkillMarkdown(text, location);
  const { fields, warnings } = readSkillFields(frontMatter, dir, location);
  const unusual = frontMatterWarning(text);
  const skill = Object.freeze({
    ...fields,
    sourceId: source.id,
    dir,
    location,
  });
  const texts = new Map([[SKILL_FILE, text]]);
  const shown = [SKILL_FILE, ...await findResources(source, ref, texts)];
  return {
    found: { skill, source, shown, texts },
    warnings: unusual === undefined ? warnings : [unusual, ...warnings],
  };
}

function requireUsable(
  { found, error, location }: Reading,
  skills: ReadonlyMap<string, FoundSkill>,
): FoundSkill {
  if (found === undefined) throw error;
  const { name } = found.skill;
  if (skills.has(name)) throw duplicateName(name, location);
  return found;
}

function duplicateName(name: string, location: string): SkillError {
  return new SkillError(`duplicate skill name "${name}"`, { location });
}

/** Asks a source that does not list its files for each of them. */
async function findResources(
  source: SkillSource,
  { dir, files }: SkillRef,
  texts: Map<string, string>,
): Promise<readonly string[]> {
  if (files !== undefined) {
    return SHOWN_RESOURCES.filter((path) => files.includes(path));
  }
  for (const path of SHOWN_RESOURCES) {
    const text = await readFile(source, { dir, path });
    if (text !== undefined) texts.set(path, text);
  }
  return SHOWN_RESOURCES.filter((path) => texts.has(path));
}

function byDirectory(left: SkillRef, right: SkillRef): number {
  return left.dir < right.dir ? -1 : left.dir > right.dir ? 1 : 0;
}
