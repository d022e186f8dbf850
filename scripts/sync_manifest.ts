/**
 * Writes `jsr.json`, the mirror of what `deno.json` says about the package.
 *
 * Deno publishes from `deno.json` and does not look at the mirror; other tools of the registry do.
 *
 * @module
 */

import { readManifest } from "./manifest.ts";

/** The text that `jsr.json` must have. */
export function mirroredManifest(): string {
  const { name, version, license, exports, imports, publish } = readManifest();
  const mirror = { name, version, license, exports, imports, publish };
  return `${JSON.stringify(mirror, null, 2)}\n`;
}

if (import.meta.main) Deno.writeTextFileSync("jsr.json", mirroredManifest());
