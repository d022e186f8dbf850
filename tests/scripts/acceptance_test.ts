import {
  type CarriedCase,
  casesIn,
  inReadingOrder,
} from "../../scripts/acceptance.ts";
import { parseSource } from "../gates/sources.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const runtimes = ["deno"] as const;

test("a case takes the name of its test, also where the name is a template", {
  runtimes,
}, () => {
  assertEquals(
    cases(`
      test("one", { case: "${id("X", 1)}" }, () => {});
      test("two", { runtimes, case: ["${id("X", 2)}", "${
      id("B", 3)
    }"] }, () => {});
      test(\`three of \${name}!\`, { case: "${id("TL", 4)}" }, () => {});
    `),
    ["X-1 one", "X-2 two", "B3 two", "TL-4 three of …!"],
  );
});

test("a case in a table takes the first text of its row", { runtimes }, () => {
  assertEquals(
    cases(`
      const rows = [
        { case: "${id("PL-A", 1)}", name: "in an object", answer: "42" },
        ["${id("SE-B", 2)}", "in an array", 1],
        [["${id("X", 3)}", "${id("X", 4)}"], "several"],
      ];
      f(1, "${id("X", 5)}");
    `),
    [
      "PL-A-1 in an object",
      "SE-B-2 in an array",
      "X-3 several",
      "X-4 several",
      "X-5 see the file",
    ],
  );
});

test("cases are listed by their numbers", { runtimes }, () => {
  const ids = "X-10 B2 SE-B-1 X-9 SE-A-2 B10".split(" ");
  assertEquals(
    ids.map(carried).sort(inReadingOrder).map((one) => one.id).join(" "),
    "B2 B10 SE-A-2 SE-B-1 X-9 X-10",
  );
});

function cases(text: string): string[] {
  return casesIn(parseSource("tests/some_test.ts", text)).map((one) =>
    `${one.id} ${one.words}`
  );
}

/** Put together here, so that this file carries no case itself. */
function id(group: string, number: number): string {
  return group === "B" ? `B${number}` : `${group}-${number}`;
}

function carried(id: string): CarriedCase {
  return { id, words: "", file: "" };
}
