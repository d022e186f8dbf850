import { SkillManager } from "../../src/skills/manager.ts";
import type { SkillManagerOptions } from "../../src/skills/manager.ts";
import {
  memorySkillSource,
  type SkillSource,
} from "../../src/skills/source.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";

/** A `SKILL.md` with this front matter. */
export function markdown(frontMatter: string, body = "RULES"): string {
  return `---\n${frontMatter}\n---\n${body}\n`;
}

/** A source that counts what is read from it. */
export function countingSource(
  files: Readonly<Record<string, string>>,
  id = "mem",
): { readonly source: SkillSource; readonly reads: Map<string, number> } {
  const memory = memorySkillSource(files, { id });
  const reads = new Map<string, number>();
  const source: SkillSource = {
    ...memory,
    read(dir, path) {
      const key = `${dir}/${path}`;
      reads.set(key, (reads.get(key) ?? 0) + 1);
      return memory.read(dir, path);
    },
  };
  return { source, reads };
}

/** A manager that has looked for its skills; warnings go to the logger. */
export async function managerOf(
  files: Readonly<Record<string, string>>,
  options: Omit<SkillManagerOptions, "source"> = {},
): Promise<SkillManager> {
  const manager = new SkillManager({
    source: memorySkillSource(files, { id: "mem" }),
    logger: new RecordingLogger(),
    ...options,
  });
  await manager.discover();
  return manager;
}
