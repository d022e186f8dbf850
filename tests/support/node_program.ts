/**
 * Bundles a program for Node, which reads no TypeScript: `node_program.ts SOURCE MODULE`.
 *
 * A process of its own, since the bundler leaves one behind.
 *
 * @module
 */

import { build } from "esbuild";

const [source, outfile] = Deno.args as [string, string];
await build({
  entryPoints: [source],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  logLevel: "warning",
});
Deno.exit();
