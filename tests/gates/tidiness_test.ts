import { readdirSync } from "node:fs";
import { acceptanceFile, acceptanceTable } from "../../scripts/acceptance.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { publishedSources } from "./sources.ts";

const runtimes = ["deno"] as const;
const maxLines = 350;

test("no room of the package is too long to be read in one sitting", {
  runtimes,
}, () => {
  const long = publishedSources()
    .map(({ path, text }) => ({
      path,
      lines: text.trimEnd().split("\n").length,
    }))
    .filter(({ lines }) => lines > maxLines);
  assertEquals(
    long,
    [],
    `A file of more than ${maxLines} lines asks to be two`,
  );
});

test(
  "the list of acceptance cases says what the tests say",
  { runtimes },
  () => {
    assertEquals(
      Deno.readTextFileSync(acceptanceFile),
      acceptanceTable(),
      "Run `deno task acceptance`",
    );
  },
);

test("nothing points at somebody's own machine", { runtimes }, () => {
  // Put together here, so that this file does not find itself.
  const homes = new RegExp(
    `(^|[\\s"'\`(=])(/(${
      ["home", "Users", "root", "work"].join("|")
    })/\\w|[A-Z]:\\\\\\w)`,
    "m",
  );
  const found = textFiles(".").filter((path) =>
    homes.test(Deno.readTextFileSync(path))
  );
  assertEquals(found, []);
});

function textFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "." ? entry.name : `${folder}/${entry.name}`;
    if (
      ["node_modules", ".git", ".build", "coverage", "deno.lock"].includes(
        entry.name,
      )
    ) return [];
    if (entry.isDirectory()) return textFiles(path);
    return /\.(ts|mjs|js|json|md|yml|sh|txt|jsonl)$/.test(path) ? [path] : [];
  });
}
