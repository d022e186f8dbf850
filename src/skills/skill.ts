import { deepFreeze } from "../base/freeze.ts";
import { isJsonObject } from "../base/json.ts";
import { SkillError } from "./errors.ts";
import type { SkillMarkdown } from "./front_matter.ts";

/** What a skill says about itself. */
export interface SkillFields {
  /** What users and models call it; the name of its directory by default. */
  readonly name: string;
  /** What it is for; empty if it does not say. */
  readonly description: string;
  /** Its licence. */
  readonly license?: string;
  /** What it needs around it. */
  readonly compatibility?: string;
  /** Anything its author noted. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Tools that its author had in mind; grants nothing. */
  readonly allowedTools: readonly string[];
  /** True if it is left out of the index and waits to be asked for by name. */
  readonly hidden: boolean;
  /** Whatever else stands in its front matter. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** A skill that was found. */
export interface Skill extends SkillFields {
  /** The source it comes from. */
  readonly sourceId: string;
  /** Its directory there. */
  readonly dir: string;
  /** Where its `SKILL.md` is. */
  readonly location: string;
}

/** The fields of a skill, and what is unusual about them. */
export interface CheckedFields {
  /** The fields. */
  readonly fields: SkillFields;
  /** One sentence each, without a final period. */
  readonly warnings: readonly string[];
}

/**
 * Reads the fields of a skill out of its front matter.
 *
 * Demands nothing but a usable name. What the public format demands beyond that
 * becomes a warning.
 *
 * @throws {SkillError} If the name is no text or blank.
 *
 * @see Agent Skills, https://agentskills.io/specification
 */
export function readSkillFields(
  frontMatter: SkillMarkdown["frontMatter"],
  dir: string,
  location: string,
): CheckedFields {
  const warnings: string[] = [];
  const warn: Warn = (warning) => warnings.push(warning);
  const {
    name,
    description,
    license,
    compatibility,
    metadata,
    "allowed-tools": allowedTools,
    "disable-model-invocation": disabled,
    ...extra
  } = frontMatter;
  const fields = {
    name: readName(name, dir, location, warn),
    description: readDescription(description, warn),
    ...readOptional("license", license, Infinity, warn),
    ...readOptional("compatibility", compatibility, 500, warn),
    metadata: readMetadata(metadata, warn),
    allowedTools: readTools(allowedTools, warn),
    hidden: readHidden(disabled, warn),
    extra,
  };
  return deepFreeze({ fields, warnings });
}

type Warn = (warning: string) => void;

function readName(
  given: unknown,
  dir: string,
  location: string,
  warn: Warn,
): string {
  const name = given || dir;
  const trimmed = typeof name === "string" ? name.trim() : "";
  if (trimmed === "") {
    throw new SkillError(
      `The name of a skill must be a text and not blank: ${location}`,
      { location },
    );
  }
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(trimmed)) {
    warn(
      "The name is not made of lower-case letters, digits and single hyphens",
    );
  }
  if (trimmed.length > 64) warn("The name has more than 64 characters");
  if (trimmed !== dir) warn("The name is not that of the directory");
  return trimmed;
}

function readDescription(given: unknown, warn: Warn): string {
  if (given === undefined || given === null) return "";
  if (typeof given === "object") {
    warn("The description is no text");
    return "";
  }
  const description = String(given).trim();
  if (description.length > 1024) {
    warn("The description has more than 1024 characters");
  }
  return description;
}

function readOptional<K extends string>(
  key: K,
  given: unknown,
  most: number,
  warn: Warn,
): { readonly [key in K]?: string } {
  if (given === undefined || given === null) return {};
  if (typeof given !== "string") {
    warn(`The ${key} is no text`);
    return {};
  }
  if (given.length > most) warn(`The ${key} has more than ${most} characters`);
  return { [key]: given } as { readonly [key in K]?: string };
}

function readMetadata(given: unknown, warn: Warn): Record<string, string> {
  if (given === undefined || given === null) return {};
  if (!isJsonObject(given)) {
    warn("The metadata are no mapping");
    return {};
  }
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, toText(value)]),
  );
}

function toText(value: unknown): string {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Only YAML's own true hides a skill; `yes` is a text. */
function readHidden(given: unknown, warn: Warn): boolean {
  if (given !== undefined && given !== null && typeof given !== "boolean") {
    warn("The disable-model-invocation is neither true nor false");
  }
  return given === true;
}

/** Names with blanks or commas between them, such as `Read, Bash(git add:*)`, or a list of names. */
function readTools(given: unknown, warn: Warn): string[] {
  if (given === undefined || given === null) return [];
  const texts: unknown[] = Array.isArray(given) ? given : [given];
  if (!texts.every((text) => typeof text === "string")) {
    warn("The allowed-tools are neither a text nor a list of texts");
    return [];
  }
  return Array.isArray(given)
    ? texts
    : texts.flatMap((text) => text.match(/[^\s,()]+(\([^)]*\))?/g) ?? []);
}
