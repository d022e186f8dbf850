/**
 * Skills: folders with a `SKILL.md` that tells a model how to do one kind of work, read
 * only when that work comes up.
 *
 * ```ts
 * import { memorySkillSource, SkillManager } from "@ejagent/core/skills";
 * import { equal } from "node:assert/strict";
 *
 * const skills = new SkillManager({
 *   source: memorySkillSource({
 *     "release-notes/SKILL.md":
 *       "---\nname: release-notes\ndescription: Writes release notes.\n---\nGroup by area.",
 *   }),
 * });
 * await skills.discover();
 * equal(skills.select("Use skill:release-notes for 1.2"), "release-notes");
 * ```
 *
 * Choose this entry to give an agent skills out of memory or a manifest, and `fsSkillSource`
 * of `@ejagent/core/deno`, `/node` or `/bun` beside it for folders. On Deno the YAML parser
 * needs `--allow-env=LOG_TOKENS,LOG_STREAM`.
 *
 * @module
 */
export { bundleSkillFolder, type BundleSkillsOptions } from "./bundle.ts";
export type { SkillDiagnostic } from "./discovery.ts";
export { SkillError, type SkillErrorOptions } from "./errors.ts";
export {
  type SkillFiles,
  type SkillFileStatus,
  type SkillFolder,
  skillFolder,
  type SkillFolderOptions,
} from "./folder.ts";
export { parseSkillMarkdown, type SkillMarkdown } from "./front_matter.ts";
export { SkillManager, type SkillManagerOptions } from "./manager.ts";
export {
  createSkillReadTool,
  type SkillFileAnswer,
  type SkillFileRequest,
} from "./read_tool.ts";
export type { Skill, SkillFields } from "./skill.ts";
export {
  manifestSkillSource,
  MAX_SKILL_FILE_BYTES,
  memorySkillSource,
  type SkillManifest,
  type SkillRef,
  type SkillSource,
  type SkillSourceOptions,
} from "./source.ts";
