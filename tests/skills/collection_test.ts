import { SkillManager } from "../../src/skills/manager.ts";
import { manifestSkillSource } from "../../src/skills/source.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const complete = "license: Complete terms in LICENSE.txt";
const proprietary = "license: Proprietary. LICENSE.txt has complete terms";

const paragraph =
  "Use this skill when a spreadsheet is the main thing that goes in or comes out, also when \"clean up\" or 'tidy' is all that is said: columns, formulas, charts.";
/** Seven paragraphs, longer than the 1024 characters of the public format. */
const wordy = Array.from({ length: 7 }, () => `  ${paragraph}`).join("\n");

/** Front matter in all the forms that published collections have, by directory. */
const collection: Readonly<Record<string, string>> = {
  "algorithmic-art":
    `name: algorithmic-art\ndescription: Draws with seeded randomness, in code. Never imitates a living artist.\n${complete}`,
  "brand-guidelines":
    `name: brand-guidelines\ndescription: Applies colours and type to whatever is shown; "on brand" is the word to look for.\n${complete}`,
  "canvas-design":
    `name: canvas-design\ndescription: Makes posters as .png and .pdf documents (not web pages).\n${complete}`,
  "claude-api":
    `name: claude-api\ndescription: "Builds programs on a model's interface.\\nTRIGGER when: the code imports its package.\\nDO NOT TRIGGER when: it imports \\"another\\"."\n${complete}`,
  "doc-coauthoring":
    "name: doc-coauthoring\ndescription: Guides through writing a document together - context first, then structure, then a reader's test.",
  "docx":
    `name: docx\ndescription: "Creates, reads and edits Word files: headings, tables, tracked changes."\n${proprietary}`,
  "frontend-design":
    `name: frontend-design\ndescription: Makes interfaces that do not look made by a machine.\n${complete}`,
  "internal-comms":
    `name: internal-comms\ndescription: A set of forms for what is written inside a company (status, incidents, questions & answers).\n${complete}`,
  "mcp-builder":
    `name: mcp-builder\ndescription: Guides through building servers whose tools a model can use well, in Python or TypeScript.\n${complete}`,
  "pdf":
    `name: pdf\ndescription: Anything with PDF files, from reading text and tables to merging, splitting and filling in forms.\n${proprietary}`,
  "pptx":
    `name: pptx\ndescription: "Any time a .pptx file is involved in any way, as input, output or both."\n${proprietary}`,
  "skill-creator":
    "name: skill-creator\ndescription: Creates skills, improves them, and measures whether they help.",
  "slack-gif-creator":
    `name: slack-gif-creator\ndescription: Animated pictures that fit the limits of a chat. For requests like "make me a GIF of X doing Y."\n${complete}`,
  "template":
    "name: template-skill\ndescription: Replace with what the skill does and when to use it.",
  "theme-factory":
    `name: theme-factory\ndescription: Ten themes of colours and type for slides, documents, pages, etc. Can make a new one on the fly.\n${complete}`,
  "web-artifacts-builder":
    `name: web-artifacts-builder\ndescription: Builds pages of several components, with state or routing - not for a single file.\n${complete}`,
  "xlsx": `name: xlsx\ndescription: |-\n${wordy}\n${proprietary}`,
};

test("skills as they are published load without errors", {
  case: "TL-169",
}, async () => {
  const skills = Object.entries(collection).map(([dir, frontMatter]) => ({
    dir,
    files: { "SKILL.md": `---\n${frontMatter}\n---\n\n# ${dir}\n` },
  }));
  const manager = new SkillManager({
    source: manifestSkillSource({ id: "public", skills }),
    strict: true,
  });
  await manager.discover();

  assertEquals(manager.skills.length, 17);
  for (const { description, dir, extra } of manager.skills) {
    assert(description !== "", dir);
    assertEquals(extra, {}, dir);
  }
  assertEquals(
    manager.diagnostics.map(({ kind, message, location }) =>
      `${kind} ${location}: ${message}`
    ),
    [
      "unusual skill://public/template/SKILL.md: The name is not that of the directory",
      "unusual skill://public/xlsx/SKILL.md: The description has more than 1024 characters",
    ],
  );
  assertEquals(
    manager.get("claude-api").description.split("\n").length,
    3,
  );
  const index = String(manager.indexMessage()?.content);
  assertEquals(index.split("\n").filter((line) => /^- /.test(line)).length, 17);
});
