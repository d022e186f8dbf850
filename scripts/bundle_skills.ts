/**
 * Turns a folder of skills into one JSON document that a Worker can import:
 *
 * ```sh
 * deno run -RW --allow-env scripts/bundle_skills.ts skills skills.json
 * ```
 *
 * @module
 */

import {
  bundleSkills,
  fsSkillSource,
} from "../adapters/deno/skill_directory.ts";
import { SkillManager } from "../src/skills/manager.ts";

if (import.meta.main) {
  const [folder, file] = Deno.args;
  if (folder === undefined || file === undefined) {
    console.error("Say which folder to read and which file to write");
    Deno.exit(2);
  }
  const manifest = await bundleSkills(folder, {
    onLeftOut: (error) => console.error(`Left out: ${error.message}`),
  });
  // What cannot be used is found here, and not where the manifest is imported.
  const skills = new SkillManager({
    source: fsSkillSource(folder),
    strict: true,
    onDiagnostic: ({ message, location }) =>
      console.error(`Unusual: ${message}: ${location}`),
  });
  await skills.discover();
  await Deno.writeTextFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
  console.log(`${manifest.skills.length} skills are in ${file}`);
}
