import { parseSkillMarkdown } from "../../src/skills/front_matter.ts";
import { SkillError } from "../../src/skills/errors.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const pdf = { frontMatter: { name: "pdf" }, body: "Read." };

test("front matter is what stands between the dashes", () => {
  assertEquals(parseSkillMarkdown("---\nname: pdf\n---\nRead.\n"), pdf);
});

test("marks, line ends and blanks of editors do not hide the front matter", {
  case: ["B92", "TL-160"],
}, () => {
  for (
    const text of [
      "\uFEFF---\nname: pdf\n---\nRead.",
      "---\r\nname: pdf\r\n---\r\nRead.\r\n",
      "---\rname: pdf\r---\rRead.\r",
      "---  \nname: pdf\n--- \t\nRead.",
      "---\nname: pdf\n---\n\n\nRead.\n\n",
    ]
  ) {
    assertEquals(parseSkillMarkdown(text), pdf, JSON.stringify(text));
  }
});

test("a text that does not begin with dashes, or whose block does not end, has none", () => {
  for (
    const text of [
      "Read.",
      "\n---\nname: pdf\n---",
      "---\nname: pdf",
      "---tail\nname: pdf\n---",
      "----\nname: pdf\n----",
      "",
    ]
  ) {
    assertEquals(parseSkillMarkdown(text), {
      frontMatter: {},
      body: text.trim(),
    });
  }
});

test("the block ends at a line of nothing but dashes", () => {
  const text =
    "---\nname: pdf\n#---\nlicense: x\n---tail: 1\n---\nRead.\n---\n";
  assertEquals(parseSkillMarkdown(text), {
    frontMatter: { name: "pdf", license: "x", "---tail": 1 },
    body: "Read.\n---",
  });
});

test("an empty block is an empty mapping and leaves later rules alone", () => {
  for (const block of ["---\n---", "---\n\n---", "---\n# nothing\n---"]) {
    assertEquals(parseSkillMarkdown(`${block}\nRead.\n---\nMore.`), {
      frontMatter: {},
      body: "Read.\n---\nMore.",
    });
  }
});

test("YAML is read with the types of JSON", () => {
  const text = [
    "---",
    "name: first",
    "name: last",
    "on: yes",
    "version: 1.0",
    "date: 2024-01-02",
    "none: ~",
    "text: |-",
    "  two",
    "  lines",
    "<<: {merged: true}",
    "__proto__: {polluted: true}",
    "---",
  ].join("\n");
  const { frontMatter } = parseSkillMarkdown(text);
  assertEquals(Object.entries(frontMatter), [
    ["name", "last"],
    ["on", "yes"],
    ["version", 1],
    ["date", "2024-01-02"],
    ["none", null],
    ["text", "two\nlines"],
    ["<<", { merged: true }],
    ["__proto__", { polluted: true }],
  ]);
  assertEquals(({} as { polluted?: boolean }).polluted, undefined);
});

test("front matter that is no mapping is told with its file", () => {
  for (const yaml of ["- a", "text", "12"]) {
    const error = assertThrows(
      () => parseSkillMarkdown(`---\n${yaml}\n---`, "skill://x/y/SKILL.md"),
      SkillError,
      "SKILL.md front matter must be a mapping: skill://x/y/SKILL.md",
    );
    assertEquals(error.location, "skill://x/y/SKILL.md");
  }
});

test(
  "broken YAML is told with its line and the remedy",
  { case: "B91" },
  () => {
    const error = assertThrows(
      () =>
        parseSkillMarkdown(
          "---\nname: x\ndescription: Use when: x\n---",
          "here",
        ),
      SkillError,
      'here, line 3: Nested mappings are not allowed in compact mappings; put a text that holds ": " in quotes',
    );
    assertEquals(error.line, 3);
    assertEquals(error.location, "here");
    assertEquals(error.code, "skill");
    assertThrows(
      () => parseSkillMarkdown("---\na: *b\n---"),
      SkillError,
      "alias",
    );
  },
);

test("a document that contains itself is refused", () => {
  for (const yaml of ["a: &a [*a]", "&a\nb: *a"]) {
    assertThrows(
      () => parseSkillMarkdown(`---\n${yaml}\n---`),
      SkillError,
      "cycle",
    );
  }
});

test("a document that multiplies itself is refused", () => {
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"];
  for (let level = 1; level < 9; level++) {
    const before = Array.from({ length: 9 }, () => `*a${level - 1}`);
    lines.push(`a${level}: &a${level} [${before.join(", ")}]`);
  }
  assertThrows(
    () => parseSkillMarkdown(["---", ...lines, "---"].join("\n")),
    SkillError,
    "alias",
  );
});
