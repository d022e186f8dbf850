import { createSkillReadTool } from "../../src/skills/read_tool.ts";
import type { SkillFileRequest } from "../../src/skills/read_tool.ts";
import { calls, text } from "../../src/testing/mod.ts";
import { agentWith } from "../agent/fixtures.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { managerOf } from "./sources.ts";

const files = { "a/SKILL.md": "A", "a/references/x.md": "X" };

test("the tool reads files of skills and says why it does not", {
  case: "TL-167",
}, async () => {
  const tool = createSkillReadTool(await managerOf(files));
  assertEquals(tool.definition.name, "read_skill_file");
  assertEquals(tool.definition.effect, "read_only");
  const read = async (skill: unknown, path: unknown) =>
    (await tool.invoke({ skill, path } as SkillFileRequest)).data;

  assertEquals(await read("a", "references/x.md"), {
    status: "success",
    content: "X",
  });
  // What the list of skills says of this skill, and of no other.
  assertEquals(await read("a", "skill://mem/a/SKILL.md"), {
    status: "success",
    content: "A",
  });
  assertEquals(await read("a", "skill://mem/a/references/x.md"), {
    status: "success",
    content: "X",
  });
  for (const path of ["skill://mem/b/SKILL.md", "skill://mem/a/../b"]) {
    assertEquals(await read("a", path), {
      status: "error",
      error: "path is not inside the skill",
    });
  }
  assertEquals(await read("a", "%2e%2e/x"), {
    status: "error",
    error: "the skill has no such file",
  });
  assertEquals(await read("b", "SKILL.md"), {
    status: "error",
    error: 'unknown skill "b" (available: a)',
  });
  for (const path of ["../secret", "/etc/passwd", "a//b", "C:/x", 5, null]) {
    assertEquals(await read("a", path), {
      status: "error",
      error: "path is not inside the skill",
    });
  }
});

test("a model follows a skill by itself", async () => {
  const skills = await managerOf(files);
  const { agent } = agentWith([
    calls([{
      name: "read_skill_file",
      arguments: { skill: "a", path: "SKILL.md" },
    }]),
    text("done"),
  ], { skills, tools: [createSkillReadTool(skills)] });
  assertEquals(await agent.runText("go"), "done");
  const [answer] = agent.messages.filter(({ role }) => role === "tool");
  assertEquals(JSON.parse(String(answer?.content)), {
    status: "success",
    content: "A",
  });
  await agent.shutdown();
});
