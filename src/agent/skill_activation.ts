import { contentText } from "../messages/content.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { ActiveRun } from "./active_run.ts";

/** Makes the skill active that the latest user message asks for by name, if it does. */
export async function activateSkill(run: ActiveRun): Promise<void> {
  const { config, state } = run.core;
  const { skills } = config;
  if (skills === null) return;
  const message = state.conversation.messages.findLast((entry) =>
    entry.role === "user"
  );
  const name = message === undefined
    ? null
    : skills.select(contentText(message.content));
  if (name === null) return;
  await run.cancellation.race(() =>
    skills.prepare(name, { signal: run.cancellation.signal })
  );
  state.activeSkillName = name;
}

/** The skill index and the instructions of the active skill, if there are any. */
export function skillMessages(run: ActiveRun): readonly AgentMessage[] {
  const { config, state } = run.core;
  const { skills } = config;
  if (skills === null) return [];
  const active = state.activeSkillName === null
    ? null
    : skills.message(state.activeSkillName);
  return [skills.indexMessage(), active].filter((message) => message !== null);
}
