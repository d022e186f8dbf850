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
import {
  readSource,
  type Source,
  sourcePaths,
} from "../tests/gates/sources.ts";

/** A test that carries a case. */
export interface CarriedCase {
  readonly id: string;
  /** The name of the test. */
  readonly words: string;
  /** From the folder of the tests. */
  readonly file: string;
}

/** Where the list is kept. */
export const acceptanceFile = "tests/ACCEPTANCE.md";

const caseId = /^(X|TL|SE|PL)(-[A-Z])?-\d+$|^B\d+$/;

/** The list as it follows from the tests. */
export function acceptanceTable(): string {
  const carried = sourcePaths("tests")
    .filter((path) => path.endsWith("_test.ts"))
    .flatMap((path) => casesIn(readSource(path)))
    .sort(inReadingOrder);
  const rows = carried.map(({ id, words, file }) => {
    return `| ${id} | ${words.replaceAll("|", "\\|")} | ${file} |`;
  });
  const count = new Set(carried.map(({ id }) => id)).size;
  return `${introduction(count)}\n${[...new Set(rows)].join("\n")}\n`;
}

/** The cases that one test file carries, in the order of its text. */
export function casesIn({ path, tree }: Source): CarriedCase[] {
  const file = path.replace(/^tests\//, "");
  const found: CarriedCase[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && caseId.test(node.text)) {
      found.push({
        id: node.text,
        words: nameOfTest(node) ?? textOfRow(node),
        file,
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** Orders by id, `X-2` before `X-10`, then by file and by words. */
export function inReadingOrder(a: CarriedCase, b: CarriedCase): number {
  return compareIds(a.id, b.id) || compare(a.file, b.file) ||
    compare(a.words, b.words);
}

if (import.meta.main) Deno.writeTextFileSync(acceptanceFile, acceptanceTable());

function introduction(count: number): string {
  return `# Acceptance cases

An acceptance case is one promise about behaviour, with a stable id. Tests carry the ids; this list is
made from them by \`deno task acceptance\` and names ${count} cases. X: runs, control and events. TL: tools.
SE: sessions, context and compaction. PL: middleware, providers, telemetry and serving. B: reports from
users of such libraries.

| Case | What the test shows | File under \`tests\` |
| --- | --- | --- |`;
}

/** The name of the `test(...)` call whose options hold the id; undefined outside such a call. */
function nameOfTest(id: ts.Node): string | undefined {
  const call = findAround(id, (node) => {
    return ts.isCallExpression(node) && node.expression.getText() === "test";
  });
  return call && plainText((call as ts.CallExpression).arguments[0]);
}

/** The first other text of the array or object that holds the id. */
function textOfRow(id: ts.Node): string {
  const row = findAround(id, (node) => textsOf(node).length > 0);
  return row === undefined ? "see the file" : textsOf(row)[0]!;
}

/** The nearest node around this one that fits, within the same function. */
function findAround(
  start: ts.Node,
  fits: (node: ts.Node) => boolean,
): ts.Node | undefined {
  for (let node = start.parent; node !== undefined; node = node.parent) {
    if (ts.isFunctionLike(node)) return undefined;
    if (fits(node)) return node;
  }
  return undefined;
}

/** The texts among the items of an array or the values of an object that are no ids. */
function textsOf(node: ts.Node): string[] {
  const values = ts.isArrayLiteralExpression(node)
    ? node.elements
    : ts.isObjectLiteralExpression(node)
    ? node.properties.map((one) =>
      ts.isPropertyAssignment(one) ? one.initializer : one
    )
    : [];
  return values.map(plainText).filter((text) =>
    text !== undefined && !caseId.test(text)
  ) as string[];
}

function plainText(node: ts.Node | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text +
    node.templateSpans.map(({ literal }) => `…${literal.text}`).join("");
}

function compareIds(a: string, b: string): number {
  const left = a.split(/[-]|(?<=B)/);
  const right = b.split(/[-]|(?<=B)/);
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
