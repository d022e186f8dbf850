import { EJAgentError } from "../base/errors.ts";

/** What a skill error is about. */
export interface SkillErrorOptions extends ErrorOptions {
  /** The file, if one is to blame. */
  readonly location?: string | undefined;
  /** The line in that file, from 1. */
  readonly line?: number | undefined;
}

/** A skill, a file of it or a whole source of skills cannot be used. */
export class SkillError extends EJAgentError {
  /** Always `"skill"`. */
  override readonly code = "skill";
  /** The file, if one is to blame. */
  readonly location: string | undefined;
  /** The line in that file, from 1. */
  readonly line: number | undefined;

  /**
   * Blames a file, if one is given.
   *
   * @param message What is wrong, without a final period.
   * @param options The file, the line, and the cause.
   */
  constructor(message: string, options: SkillErrorOptions = {}) {
    super(message, options);
    this.location = options.location;
    this.line = options.line;
  }
}
