/**
 * A skill that the user asks for by name: its instructions, its template and its
 * sample are part of the conversation until the next task. The model looks up the
 * rest of its files by itself.
 *
 *     deno task examples 06
 *
 * @module
 */

import { Agent } from "@ejagent/core";
import { fsSkillSource } from "@ejagent/core/node";
import { createSkillReadTool, SkillManager } from "@ejagent/core/skills";
import { calls, text } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";

const skills = new SkillManager({
  source: fsSkillSource("examples/skills"),
  onDiagnostic: ({ kind, message }) => console.log(`(${kind}: ${message})`),
});

const provider = await exampleModel([
  calls([{
    name: "read_skill_file",
    arguments: { skill: "release_notes", path: "references/wording.md" },
  }]),
  text(
    "## 2.5.0 (2026-04-01)\n\nDownloads can be paused.\n\n### New\n\n- Pause a download with `handle.pause()`.",
  ),
]);
console.log(provider.describe);

const agent = new Agent({
  agentId: "writer",
  model: provider.model,
  systemPrompt: "You write for the users of a library.",
  skills,
  tools: [createSkillReadTool(skills)],
});

const result = await agent.run(
  "$release_notes Version 2.5.0, 1 April 2026: add DownloadHandle.pause (#91); rename an internal class (#92).",
);
console.log(`Active skill: ${agent.state.activeSkillName}`);
console.log(result.output ?? result.error);

await agent.shutdown();
await provider.close();
