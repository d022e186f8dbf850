import { readdirSync } from "node:fs";
import { acceptanceFile, acceptanceTable } from "../../scripts/acceptance.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { assertSameLines } from "./lists.ts";
import { publishedSources } from "./sources.ts";

const runtimes = ["deno"] as const;
const maxLineCount = 350;
// The facade is documentation of every member; what the members do is elsewhere.
const facade = "src/agent/agent.ts";
const maxFacadeLineCount = 480;

test("no room of the package is too long to be read in one sitting", {
  runtimes,
}, () => {
  const long = publishedSources()
    // The root entry is a list of names; its length follows from what there is.
    .filter(({ path }) => path !== "mod.ts")
    .map(({ path, text }) => ({
      path,
      lineCount: text.trimEnd().split("\n").length,
    }))
    .filter(({ path, lineCount }) =>
      lineCount > (path === facade ? maxFacadeLineCount : maxLineCount)
    );
  assertEquals(
    long,
    [],
    `A file of more than ${maxLineCount} lines asks to be two`,
  );
});

test(
  "the list of acceptance cases says what the tests say",
  { runtimes },
  () => {
    const recorded = Deno.readTextFileSync(acceptanceFile);
    assertSameLines(acceptanceTable(), recorded, "Run `deno task acceptance`");
  },
);

test("nothing points at somebody's own machine", { runtimes }, () => {
  // Put together here, so that this file does not find itself.
  const homes = ["home", "Users", "root", "work"].join("|");
  const place = new RegExp(
    `(^|[\\s"'\`(=])(/(${homes})/\\w|[A-Z]:\\\\\\w)`,
    "m",
  );
  const found = textFiles(".").filter((path) =>
    place.test(Deno.readTextFileSync(path))
  );
  assertEquals(found, []);
});

function textFiles(folder: string): string[] {
  const foreign = ["node_modules", ".git", ".build", "coverage"];
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !foreign.includes(name))
    .flatMap((entry) => {
      const path = folder === "." ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) return textFiles(path);
      return /\.(ts|mjs|json|jsonl|md|yml|txt)$/.test(path) ? [path] : [];
    });
}
