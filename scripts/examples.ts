/**
 * Runs the examples: all of them offline, one after the other, or the one whose name is given, with
 * the settings of `.env` if that file exists. `--list` names them.
 *
 * @module
 */

import { run } from "./run.ts";

const names = [...Deno.readDirSync("examples")]
  .filter((entry) => entry.isFile && /^\d\d_\w+\.ts$/.test(entry.name))
  .map((entry) => entry.name)
  .sort();
const [choice] = Deno.args;

if (choice === "--list") {
  console.log(names.join("\n"));
} else if (choice === undefined) {
  await runAllOffline();
} else {
  await runOne(choice);
}

async function runAllOffline(): Promise<void> {
  const failures: string[] = [];
  for (const name of names) {
    // No key, so that every example plays its scripted model.
    const env = { OPENAI_API_KEY: "" };
    const { code, stdout, stderr } = await run(Deno.execPath(), [
      "run",
      "-A",
      `examples/${name}`,
    ], { env });
    if (code === 0) continue;
    failures.push(name);
    console.error(`${name} ended with exit code ${code}\n${stdout}${stderr}`);
  }
  console.log(
    `${names.length - failures.length} of ${names.length} examples ran`,
  );
  if (failures.length > 0) Deno.exit(1);
}

async function runOne(wanted: string): Promise<void> {
  const name = names.find((one) =>
    one.startsWith(wanted) || one.includes(wanted)
  );
  if (name === undefined) {
    throw new RangeError(`No example is called ${wanted}; try --list`);
  }
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--env-file",
      `examples/${name}`,
      ...Deno.args.slice(1),
    ],
  });
  Deno.exit((await child.spawn().status).code);
}
