import type { AgentMessage } from "../messages/message.ts";

/**
 * The skills that an agent can offer its model.
 *
 * A skill is a text of instructions that is read only when it is needed. The
 * catalog's messages stand in requests right after the leading system messages
 * and never enter the history. `SkillManager` of the skills entry is the
 * implementation over folders with a `SKILL.md`; the text of a skill is
 * untrusted input to the model and grants nothing.
 *
 * @example A catalog of one skill that is held in memory
 * ```ts
 * import { type SkillCatalog, systemMessage } from "@ejagent/core";
 *
 * const catalog: SkillCatalog = {
 *   discover: () => Promise.resolve(),
 *   indexMessage: () => systemMessage("Available skills:\n- name: pdf"),
 *   select: (text) => text.includes("$pdf") ? "pdf" : null,
 *   prepare: () => Promise.resolve(),
 *   message: () => systemMessage("Read PDF files page by page."),
 * };
 * ```
 */
export interface SkillCatalog {
  /**
   * Finds the skills. Called first in every start-up of an agent; only the
   * first call looks, later ones return at once. A rejection fails the start-up.
   */
  discover(): Promise<void>;
  /**
   * The message that lists the skills; null if there is none to list. Called
   * for every request, so an implementation makes it once.
   */
  indexMessage(): AgentMessage | null;
  /**
   * The name of the skill that a text of the user asks for by name; null if it
   * names none. Called with the text of the latest user message when a run
   * begins and after each applied steering input. May not throw.
   */
  select(text: string): string | null;
  /**
   * Reads a skill, so that `message` can answer. Called when the skill becomes
   * active; a skill that was read before is not read again. A rejection fails
   * the run.
   *
   * @param name What `select` returned.
   * @param options `signal` aborts with the run.
   */
  prepare(name: string, options: { signal: AbortSignal }): Promise<void>;
  /** The instructions of a prepared skill; null if it is not prepared. Called for every request. */
  message(name: string): AgentMessage | null;
}
