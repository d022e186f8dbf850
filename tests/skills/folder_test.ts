import { bundleSkillFolder } from "../../src/skills/bundle.ts";
import { SkillError } from "../../src/skills/errors.ts";
import { type SkillFiles, skillFolder } from "../../src/skills/folder.ts";
import { SkillManager } from "../../src/skills/manager.ts";
import {
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { test } from "../support/suite.ts";

/** A disk that writes real paths with backslashes. */
function windowsFiles(texts: Readonly<Record<string, string>>): SkillFiles {
  const plain = (path: string) => path.replaceAll("\\", "/");
  const children = (directory: string) =>
    Object.keys(texts)
      .filter((path) => path.startsWith(`${plain(directory)}/`))
      .map((path) => path.slice(directory.length + 1).split("/")[0] ?? "");
  return {
    realPath(path) {
      const wanted = plain(String(path));
      const exists = wanted in texts || children(wanted).length > 0;
      return Promise.resolve(
        exists ? wanted.replaceAll("/", "\\") : undefined,
      );
    },
    status(path) {
      const text = texts[plain(path)];
      return Promise.resolve(
        text === undefined
          ? { kind: "directory", sizeBytes: 0 }
          : { kind: "file", sizeBytes: text.length },
      );
    },
    names: (directory) => Promise.resolve([...new Set(children(directory))]),
    read: (path) =>
      Promise.resolve(new TextEncoder().encode(texts[plain(path)])),
  };
}

const disk = windowsFiles({
  "C:/skills/a/SKILL.md": "A",
  "C:/skills/a/examples/sample.md": "S",
  "C:/skills/ab/secret.md": "s3cret",
});

test("a platform with another separator is read just the same", async () => {
  const folder = skillFolder(disk, "C:/skills");
  assertEquals(await folder.list(), [
    { dir: "a", files: ["SKILL.md", "examples/sample.md"] },
  ]);
  assertEquals(await folder.read("a", "examples/sample.md"), "S");
  assertEquals(await folder.files("a"), ["SKILL.md", "examples/sample.md"]);
  assertEquals(await folder.files("nowhere"), []);
  assertEquals(folder.locate?.("a", "SKILL.md"), "C:\\skills\\a/SKILL.md");
  assertEquals(await bundleSkillFolder(folder), {
    id: "skills",
    skills: [
      { dir: "a", files: { "SKILL.md": "A", "examples/sample.md": "S" } },
    ],
  });
});

test("a directory whose name merely begins alike is outside", async () => {
  const folder = skillFolder({
    ...disk,
    realPath: (path) =>
      disk.realPath(
        String(path).endsWith("link.md")
          ? "C:/skills/ab/secret.md"
          : String(path),
      ),
  }, "C:/skills");
  await folder.list();
  await assertRejects(
    () => folder.read("a", "link.md"),
    SkillError,
    "path is not inside the skill",
  );
});

test("what cannot be looked into breaks its own skill and no other", async () => {
  const denied = (path: string) =>
    Promise.reject(new Error(`Permission denied: ${path}`));
  const folder = skillFolder({
    ...disk,
    names: (path) => path.endsWith("ab") ? denied(path) : disk.names(path),
    read: (path) => path.endsWith("ample.md") ? denied(path) : disk.read(path),
  }, "C:/skills");
  const manager = new SkillManager({ source: folder, onDiagnostic: () => {} });
  await manager.discover();
  assertEquals(manager.skills.map(({ name }) => name), ["a"]);
  const leftOut = manager.diagnostics.filter(({ kind }) => kind === "left_out");
  assertEquals(leftOut.map(({ location }) => location), [
    "C:\\skills/ab/SKILL.md",
  ]);
  assertStringIncludes(
    leftOut[0]?.message ?? "",
    "skills/ab: Permission denied",
  );
  await assertRejects(() => folder.files("ab"), SkillError, "looked into");
  await assertRejects(
    () => folder.read("a", "examples/sample.md"),
    SkillError,
    "examples/sample.md: Permission denied",
  );
});

test("a folder that is listed again goes on being read", async () => {
  let names = disk.names;
  const folder = skillFolder(
    { ...disk, names: (path) => names(path) },
    "C:/skills",
  );
  await folder.list();

  const entered = deferred();
  const opened = deferred();
  names = async (path) => {
    entered.resolve();
    await opened.promise;
    return await disk.names(path);
  };
  const listing = folder.list();
  await entered.promise;
  assertEquals(await folder.read("a", "SKILL.md"), "A");
  opened.resolve();
  await listing;
});
