import { type DefinedTool, defineTool } from "../tools/define_tool.ts";
import { requireMethods } from "../base/require.ts";
import { SkillError } from "./errors.ts";
import type { SkillManager } from "./manager.ts";
import { SKILL_FILE } from "./source.ts";

/** What {@linkcode createSkillReadTool} takes. */
export interface SkillFileRequest {
  /** Name of the skill. */
  readonly skill: string;
  /** Path of the file, relative to the directory of the skill; or the location that the list of skills gives. */
  readonly path: string;
}

/** What {@linkcode createSkillReadTool} gives back. */
export type SkillFileAnswer =
  | { readonly status: "success"; readonly content: string }
  | { readonly status: "error"; readonly error: string };

/**
 * A tool by which the model reads the files of skills, and nothing else.
 *
 * Skills never bring tools with them; give this one to agents whose models should
 * follow a skill by themselves or look into what it refers to.
 *
 * @example The model may read what a skill refers to
 * ```ts
 * import {
 *   createSkillReadTool,
 *   memorySkillSource,
 *   SkillManager,
 * } from "@ejagent/core/skills";
 * import { deepEqual } from "node:assert/strict";
 *
 * const skills = new SkillManager({
 *   source: memorySkillSource({
 *     "pdf/SKILL.md": "See forms.md.",
 *     "pdf/forms.md": "Fields first.",
 *   }),
 * });
 * await skills.discover();
 * const tool = createSkillReadTool(skills);
 * const { data } = await tool.invoke({ skill: "pdf", path: "forms.md" });
 * deepEqual(data, { status: "success", content: "Fields first." });
 * ```
 */
export function createSkillReadTool(
  manager: SkillManager,
): DefinedTool<SkillFileRequest, SkillFileAnswer> {
  requireMethods("manager", manager, ["get", "read"]);
  return defineTool({
    name: "read_skill_file",
    description:
      "Reads a file of a skill, SKILL.md or another one in its directory.",
    parameters: {
      type: "object",
      properties: {
        skill: { type: "string", description: "Name of the skill" },
        path: {
          type: "string",
          description:
            "Path relative to the directory of the skill, as references/a.md, or its location",
        },
      },
      required: ["skill", "path"],
      additionalProperties: false,
    },
    effect: "read_only",
    execute: async ({ skill, path }, { signal }): Promise<SkillFileAnswer> => {
      try {
        const { location } = manager.get(skill);
        const inside = withoutLocation(path, location);
        const content = await manager.read(skill, inside, { signal });
        return content === undefined
          ? { status: "error", error: "the skill has no such file" }
          : { status: "success", content };
      } catch (error) {
        if (!(error instanceof SkillError)) throw error;
        return { status: "error", error: error.message };
      }
    },
  });
}

/** Models take a file for what they were shown of its skill, `skill://id/dir/SKILL.md` for instance. */
function withoutLocation(path: string, location: string): string {
  if (!location.endsWith(`/${SKILL_FILE}`)) return path;
  const directory = location.slice(0, -SKILL_FILE.length);
  return String(path).startsWith(directory)
    ? path.slice(directory.length)
    : path;
}
