import { readEntries } from "../../scripts/manifest.ts";
import { runDeno } from "../../scripts/run.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { entryRules } from "./architecture.ts";

const slow = { runtimes: ["deno"], timeoutMs: 120_000 } as const;

test(
  "portable entries without packages need no types but those of ES2023 and the web",
  slow,
  async () => {
    const files = readEntries()
      .filter(({ key }) =>
        entryRules[key]?.portable && entryRules[key].packages.length === 0
      )
      .map(({ file }) => file);
    assertEquals(await checkWithWebTypes(...files), {
      code: 0,
      complaints: [],
    });
  },
);

test(
  "the check sees what only one platform or only a newer language has",
  slow,
  async () => {
    const file = await Deno.makeTempFile({ suffix: ".ts" });
    try {
      await Deno.writeTextFile(
        file,
        "Deno.cwd();\nprocess.cwd();\nPromise.withResolvers();\n",
      );
      const { code, complaints } = await checkWithWebTypes(file);
      assertEquals({
        code,
        found: complaints.map((line) => /'(\w+)'/.exec(line)?.[1]),
      }, {
        code: 1,
        found: ["Deno", "process", "withResolvers"],
      });
    } finally {
      await Deno.remove(file);
    }
  },
);

async function checkWithWebTypes(
  ...files: readonly string[]
): Promise<{ readonly code: number; readonly complaints: readonly string[] }> {
  const { code, stderr } = await runDeno(
    "check",
    "--config=tests/gates/web_only.json",
    ...files,
  );
  // The message and the place stand on two lines.
  const complaints = stderr.match(/^ *TS\d+ \[ERROR\].*$|^ +at file:.*$/gm) ??
    [];
  return {
    code,
    complaints: complaints.filter((line) => line.includes("[ERROR]")),
  };
}
