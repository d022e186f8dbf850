/**
 * Turns a folder of skills into one JSON document that a Worker can import:
 *
 * ```sh
 * deno run -RW scripts/bundle_skills.ts skills skills.json
 * ```
 *
 * @module
 */

import { bundleSkills } from "../adapters/deno/skill_directory.ts";

if (import.meta.main) {
  const [folder, file] = Deno.args;
  if (folder === undefined || file === undefined) {
    console.error("Say which folder to read and which file to write");
    Deno.exit(2);
  }
  const manifest = await bundleSkills(folder, {
    onLeftOut: (error) => console.error(`Left out: ${error.message}`),
  });
  await Deno.writeTextFile(file, `${JSON.stringify(manifest, null, 2)}\n`);
  console.log(`${manifest.skills.length} skills are in ${file}`);
}
