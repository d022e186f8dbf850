import type { Skill } from "./skill.ts";
import { SKILL_FILE } from "./source.ts";

/** The text that tells the model which skills there are. */
export function skillIndexText(skills: readonly Skill[]): string {
  return [
    preamble,
    "",
    "Available skills:",
    ...skills.flatMap(({ name, description, location }) => [
      `- name: ${oneLine(name)}`,
      `  description: ${oneLine(description) || "No description."}`,
      `  location: ${location.replace(/[\r\n]/g, " ")}`,
    ]),
  ].join("\n");
}

/**
 * The text that makes the model follow a skill.
 *
 * @param files Texts by name, `SKILL.md` first.
 */
export function activeSkillText(
  name: string,
  files: ReadonlyMap<string, string>,
): string {
  return [
    `Active skill: "${oneLine(name)}"`,
    ...[...files].map(([path, text]) => `[${path}]\n${text.trim()}`),
  ].join("\n\n");
}

const preamble =
  `Skills are instructions for particular kinds of work. Below, each is listed with what it is for. When a task fits one, read its ${SKILL_FILE} at the location given, if a tool lets you, and follow it. The user activates a skill by writing $name or skill:name; its instructions are then part of this conversation.`;

/** Keeps a text of several lines from posing as further entries. */
function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
