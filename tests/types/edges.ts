/**
 * What the compiler must know about the validation and skills entries. Checked by
 * `deno check`, never run.
 *
 * @module
 */

import type { SkillCatalog } from "../../src/context/skills.ts";
import {
  createSkillReadTool,
  memorySkillSource,
  SkillManager,
  type SkillManifest,
  type SkillSource,
} from "../../src/skills/mod.ts";
import type { ToolInput } from "../../src/tools/define_tool.ts";
import type { ToolLayer } from "../../src/tools/middleware.ts";
import {
  type JsonSchemaCompiler,
  ToolSchemaValidationMiddleware,
} from "../../src/validation/mod.ts";

export const layer: ToolLayer = new ToolSchemaValidationMiddleware();

export const compiler: JsonSchemaCompiler = {
  compile: (schema, { draft }) => {
    const size = typeof schema === "boolean" ? 0 : Object.keys(schema).length;
    return () => size > draft.length ? [{ path: "", keyword: "size" }] : [];
  },
};

// @ts-expect-error A tool stays unchecked or the agent does not start; there is nothing between.
new ToolSchemaValidationMiddleware({ onInvalidSchema: "warn" });

const manager = new SkillManager({ source: memorySkillSource({}) });
export const catalog: SkillCatalog = manager;
export const tool: ToolInput = createSkillReadTool(manager);

// A source need not know about signals or locations.
export const source: SkillSource = {
  id: "own",
  list: () => Promise.resolve([]),
  read: () => Promise.resolve(undefined),
};

// What the compiler makes of an imported JSON file.
const imported = { id: "x", skills: [{ dir: "a", files: { "SKILL.md": "" } }] };
export const manifest: SkillManifest = imported;

// @ts-expect-error A skill that was found is not to be changed.
manager.get("a").name = "b";
