import { SkillError } from "../../src/skills/errors.ts";
import {
  manifestSkillSource,
  memorySkillSource,
  type SkillManifest,
} from "../../src/skills/source.ts";
import {
  assertEquals,
  assertRejects,
  assertThrows,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";

test("files in memory are sorted into their skills", async () => {
  const source = memorySkillSource({
    "a/SKILL.md": "A",
    "a/references/x.md": "X",
    "b/notes.md": "no skill",
    "c/d/SKILL.md": "too deep",
    "SKILL.md": "no directory",
    "__proto__/SKILL.md": "P",
  });
  assertEquals(source.id, "memory");
  assertEquals(await source.list(), [
    { dir: "a", files: ["SKILL.md", "references/x.md"] },
    { dir: "__proto__", files: ["SKILL.md"] },
  ]);
  assertEquals(await source.read("a", "references/x.md"), "X");
  assertEquals(await source.read("a", "absent"), undefined);
  assertEquals(await source.read("constructor", "name"), undefined);
});

test("a path in memory that leads out of its skill is refused", async () => {
  const source = memorySkillSource({ "a/../b/SKILL.md": "" });
  await assertRejects(
    () => Promise.resolve().then(() => source.list()),
    SkillError,
    "path is not inside the skill",
  );
});

test("a manifest is read like a folder", async () => {
  const source = manifestSkillSource({
    id: "bundle",
    skills: [
      { dir: "a", files: { "SKILL.md": "A", "x.md": "X" } },
      { dir: "b", files: { "x.md": "no skill" } },
    ],
  });
  assertEquals(source.id, "bundle");
  assertEquals(await source.list(), [
    { dir: "a", files: ["SKILL.md", "x.md"] },
  ]);
  assertEquals(await source.read("a", "x.md"), "X");
  assertEquals(await source.read("a", "toString"), undefined);
  assertEquals(await source.read("c", "x.md"), undefined);
});

test("a manifest of another form is refused at once", () => {
  const build = (manifest: unknown) => () =>
    manifestSkillSource(manifest as SkillManifest);
  assertThrows(build(null), TypeError, "manifest.id");
  assertThrows(build({ id: "x" }), TypeError, "manifest.skills");
  assertThrows(build({ id: "x", skills: [null] }), TypeError, "dir");
  assertThrows(build({ id: "x", skills: [{ dir: "a" }] }), TypeError, "files");
  const withFiles = (files: unknown, dir = "a") =>
    build({ id: "x", skills: [{ dir, files }] });
  assertThrows(withFiles({ "SKILL.md": 1 }), TypeError, "SKILL.md");
  assertThrows(withFiles({ "../x": "" }), SkillError, "not inside");
  assertThrows(withFiles({}, "../a"), SkillError, "not inside");
});
