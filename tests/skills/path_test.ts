import { SkillError } from "../../src/skills/errors.ts";
import { requireSkillPath } from "../../src/skills/path.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";

test("only plain relative paths are inside a skill", () => {
  for (
    const path of [
      "SKILL.md",
      "references/x.md",
      "a b/..c",
      "...",
      "%2e%2e/x",
      "-x",
    ]
  ) {
    assertEquals(requireSkillPath(path), path);
  }
  for (
    const path of [
      "",
      "/etc/passwd",
      "../secret",
      "a/../b",
      "a//b",
      "./a",
      "a/.",
      "a/",
      "a\\b",
      "..\\a",
      "C:/x",
      "C:x",
      "file:///etc/passwd",
      "a\0b",
      5,
      null,
      undefined,
      ["a"],
    ]
  ) {
    assertThrows(
      () => requireSkillPath(path),
      SkillError,
      "path is not inside the skill",
    );
  }
});
