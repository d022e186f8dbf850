/**
 * Runs the examples: all of them offline, one after the other, or the one that is named by its
 * number or a part of its name, against the provider that the environment or `.env` configures.
 * `--list` names them.
 *
 * @module
 */

import { run } from "./run.ts";

const names = [...Deno.readDirSync("examples")]
  .filter((entry) => entry.isFile && /^\d\d_\w+\.ts$/.test(entry.name))
  .map((entry) => entry.name)
  .sort();
const [choice, ...args] = Deno.args;

if (choice === "--list") console.log(names.join("\n"));
else if (choice === undefined) await runAllOffline();
else await runOne(choice);

async function runAllOffline(): Promise<void> {
  let failed = 0;
  for (const name of names) {
    const { code, stdout, stderr } = await run(
      Deno.execPath(),
      ["run", "-A", `examples/${name}`],
      { env: { MODEL_API_KEY: "" } },
    );
    console.log(`${code === 0 ? "ok    " : "FAILED"} ${name}`);
    if (code === 0) continue;
    failed += 1;
    console.error(`exit code ${code}\n${stdout}${stderr}`);
  }
  console.log(`${names.length - failed} of ${names.length} examples ran`);
  if (failed > 0) Deno.exit(1);
}

async function runOne(wanted: string): Promise<void> {
  const name = names.find((one) =>
    one.startsWith(wanted) || one.includes(wanted)
  );
  if (name === undefined) {
    console.error(`No example is called ${wanted}; try --list`);
    Deno.exit(1);
  }
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", `examples/${name}`, ...args],
  });
  Deno.exit((await child.spawn().status).code);
}
