#!/usr/bin/env node
// Installs the tools, the floors and our own packages, and the peers that are named (or "all").
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const peers = join(dirname(fileURLToPath(import.meta.url)), "peers");
const named = process.argv.slice(2);
const folders = named.includes("all")
  ? readdirSync(peers)
  : ["tools", "floor", "ejagent", ...named];

for (const folder of folders) {
  console.log(`Installing ${folder}`);
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: join(peers, folder),
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
}
