import { SkillError } from "./errors.ts";

/**
 * Checks that a path can only mean a file inside the directory of a skill: steps
 * of plain names with `/` between them, nothing that leads up or away.
 *
 * The path is taken literally; percent signs are characters like any other.
 *
 * @throws {SkillError} `path is not inside the skill`.
 */
export function requireSkillPath(path: unknown): string {
  if (typeof path === "string" && isSkillPath(path)) return path;
  throw outsideSkill();
}

/** The one answer to every path that leads out of a skill; it tells nothing about what is there. */
export function outsideSkill(): SkillError {
  return new SkillError("path is not inside the skill");
}

/** Whether {@linkcode requireSkillPath} takes a path. */
export function isSkillPath(path: string): boolean {
  return !/[\\\0]/.test(path) && !/^[A-Za-z][A-Za-z0-9+.-]*:/.test(path) &&
    path.split("/").every((step) =>
      step !== "" && step !== "." && step !== ".."
    );
}
