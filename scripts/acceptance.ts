/**
 * Writes `tests/ACCEPTANCE.md`: which acceptance case is shown by which test in which file.
 *
 * A test carries a case as an option, `test("plain words", { case: "X-101" }, fn)`; the plain words
 * become the line of the table. Where tests are made from a table, the case id stands in the row and
 * the row's first other text is taken.
 *
 * @module
 */

import ts from "typescript";
import { readSource, sourcePaths } from "../tests/gates/sources.ts";

/** Where the list is kept. */
export const acceptanceFile = "tests/ACCEPTANCE.md";

const caseId = /^(X|TL|SE|PL)(-[A-Z])?-\d+$|^B\d+$/;

/** The list as it follows from the tests. */
export function acceptanceTable(): string {
  const rows = sourcePaths("tests")
    .filter((path) => path.endsWith("_test.ts"))
    .flatMap(casesIn)
    .sort((a, b) =>
      compareIds(a.id, b.id) || compare(a.file, b.file) ||
      compare(a.words, b.words)
    );
  const lines = rows.map(({ id, words, file }) =>
    `| ${id} | ${words} | ${file} |`
  );
  const count = new Set(rows.map((row) => row.id)).size;
  return `${introduction(count)}\n${[...new Set(lines)].join("\n")}\n`;
}

if (import.meta.main) Deno.writeTextFileSync(acceptanceFile, acceptanceTable());

interface CarriedCase {
  readonly id: string;
  /** The name of the test. */
  readonly words: string;
  /** From the folder of the tests. */
  readonly file: string;
}

function introduction(count: number): string {
  return `# Acceptance cases

An acceptance case is one promise about behaviour, with a stable id. Tests carry the ids; this list is
made from them by \`deno task acceptance\` and names ${count} cases. X: runs, control and events. TL: tools.
SE: sessions, context and compaction. PL: middleware, providers, telemetry and serving. B: reports from
users of such libraries.

| Case | What the test shows | File under \`tests\` |
| --- | --- | --- |`;
}

function casesIn(path: string): CarriedCase[] {
  const found: CarriedCase[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && caseId.test(node.text)) {
      const words = (nameOfTest(node) ?? textOfRow(node)).replaceAll(
        "|",
        "\\\\|",
      );
      found.push({ id: node.text, words, file: path.replace(/^tests\//, "") });
    }
    ts.forEachChild(node, visit);
  };
  visit(readSource(path).tree);
  return found;
}

/** The name of the `test(...)` call whose options hold the id; undefined outside such a call. */
function nameOfTest(id: ts.Node): string | undefined {
  for (let node = id.parent; node !== undefined; node = node.parent) {
    if (ts.isFunctionLike(node)) return undefined;
    if (!ts.isCallExpression(node) || node.expression.getText() !== "test") {
      continue;
    }
    return plainText(node.arguments[0]);
  }
  return undefined;
}

/** The first other text of the array or object that holds the id. */
function textOfRow(id: ts.Node): string {
  for (let node = id.parent; node !== undefined; node = node.parent) {
    if (
      !ts.isArrayLiteralExpression(node) && !ts.isObjectLiteralExpression(node)
    ) continue;
    const values = ts.isArrayLiteralExpression(node)
      ? [...node.elements]
      : node.properties.map((one) =>
        ts.isPropertyAssignment(one) ? one.initializer : one
      );
    const words = values.map(plainText).find((text) =>
      text !== undefined && !caseId.test(text)
    );
    if (words !== undefined) return words;
  }
  return "see the file";
}

function plainText(node: ts.Node | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text +
    node.templateSpans.map((span) => `…${span.literal.text}`).join("");
}

/** Orders `X-2` before `X-10`. */
function compareIds(a: string, b: string): number {
  const parts = (id: string) => id.match(/\d+|[A-Z]+/g) ?? [];
  const [left, right] = [parts(a), parts(b)];
  for (const [index, part] of left.entries()) {
    const other = right[index] ?? "";
    const order = Number(part) - Number(other) || compare(part, other);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
