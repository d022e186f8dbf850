/** Looks for a skill; started by a test without the permission to read the environment. */
import { SkillManager } from "../../src/skills/manager.ts";
import { memorySkillSource } from "../../src/skills/source.ts";

const source = memorySkillSource({ "a/SKILL.md": "---\nname: a\n---\n" });
try {
  await new SkillManager({ source }).discover();
  console.log("found");
} catch (error) {
  console.log(`${(error as Error).name}: ${(error as Error).message}`);
}
