/**
 * Packs the package, installs it the way a user would, and imports every entry on Node, Bun and Deno.
 *
 * On Node and Bun the packed archive stands for the one that the registry makes; on Deno a link
 * to this folder stands for the published package.
 *
 * @module
 */

import { bunPackage } from "../tests/runners/bun.ts";
import { readEntries, readManifest } from "./manifest.ts";
import { readFromDeno, run } from "./run.ts";

const { name, version, imports } = readManifest();
const root = Deno.cwd();
const folder = await Deno.makeTempDir({ prefix: "pack_smoke_" });
try {
  await readFromDeno("pack", "--allow-dirty", `--output=${folder}/package.tgz`);
  await write(
    "package.json",
    JSON.stringify({ type: "module", private: true }),
  );
  await write("smoke.mjs", smokeProgram((key) => key.replace(/^\./, name)));
  await succeed("npm", [
    "install",
    "--no-audit",
    "--no-fund",
    "--prefer-offline",
    "./package.tgz",
  ]);
  await succeed("node", ["smoke.mjs"]);
  await succeed("npx", ["--yes", bunPackage, "smoke.mjs"]);
  await checkTypes();
  await smokeOnDeno();
} finally {
  await Deno.remove(folder, { recursive: true });
}
console.log(
  `${name} ${version}: every entry loads on Node, Bun and Deno, with its types`,
);

/** Imports all entries and runs an agent on a scripted answer. */
function smokeProgram(specifierOf: (key: string) => string): string {
  const lines = readEntries().map(({ key }, index) =>
    `import * as entry${index} from ${JSON.stringify(specifierOf(key))};
if (Object.keys(entry${index}).length === 0) throw new Error("${key} exports nothing");`
  );
  return `${lines.join("\n")}
import { Agent } from ${JSON.stringify(specifierOf("."))};
const model = { complete: () => Promise.resolve({ content: "hello", toolCalls: [] }) };
const agent = new Agent({ agentId: "smoke", model, systemPrompt: "Greet." });
const output = await agent.runText("Hi");
if (output !== "hello") throw new Error("Unexpected output: " + output);
`;
}

/** The declarations must satisfy a strict TypeScript project that resolves like Node. */
async function checkTypes(): Promise<void> {
  await write(
    "smoke.mts",
    readEntries().map(({ key }, index) =>
      `export * as entry${index} from ${
        JSON.stringify(key.replace(/^\./, name))
      };`
    ).join("\n"),
  );
  await succeed("node", [
    `${root}/node_modules/typescript/bin/tsc`,
    "--noEmit",
    "--strict",
    "--exactOptionalPropertyTypes",
    "--skipLibCheck",
    "--target",
    "es2023",
    "--lib",
    "es2023,dom,dom.iterable,dom.asynciterable,esnext.disposable",
    "--module",
    "nodenext",
    "smoke.mts",
  ]);
}

async function smokeOnDeno(): Promise<void> {
  await write(
    "deno/deno.json",
    JSON.stringify({
      links: [root],
      imports,
      nodeModulesDir: "none",
      unstable: ["kv"],
    }),
  );
  const specifierOf = (key: string) => `jsr:${name}@^${version}${key.slice(1)}`;
  await write("deno/smoke.ts", smokeProgram(specifierOf));
  await succeed(
    Deno.execPath(),
    ["run", "-A", "--no-lock", "smoke.ts"],
    `${folder}/deno`,
  );
}

async function write(path: string, text: string): Promise<void> {
  await Deno.mkdir(`${folder}/${path}`.replace(/\/[^/]*$/, ""), {
    recursive: true,
  });
  await Deno.writeTextFile(`${folder}/${path}`, text);
}

async function succeed(
  command: string,
  args: readonly string[],
  cwd = folder,
): Promise<void> {
  const { code, stdout, stderr } = await run(command, args, { cwd });
  if (code === 0) return;
  throw new Error(
    `${command} ${
      args.join(" ")
    } ended with exit code ${code}\n${stdout}${stderr}`,
  );
}
