import {
  mkdir,
  mkdtemp,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { BundleSkillsOptions } from "../../src/skills/bundle.ts";
import { SkillError } from "../../src/skills/errors.ts";
import type {
  SkillFolder,
  SkillFolderOptions,
} from "../../src/skills/folder.ts";
import { SkillManager } from "../../src/skills/manager.ts";
import { createSkillReadTool } from "../../src/skills/read_tool.ts";
import {
  manifestSkillSource,
  type SkillManifest,
} from "../../src/skills/source.ts";
import {
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "../support/assert.ts";
import type { Runtime } from "../support/runtime.ts";
import { test } from "../support/suite.ts";

/** What an adapter offers for folders of skills. */
export interface SkillDirectoryAdapter {
  readonly fsSkillSource: (
    root: string | URL,
    options?: SkillFolderOptions,
  ) => SkillFolder;
  readonly bundleSkills: (
    root: string | URL,
    options?: BundleSkillsOptions,
  ) => Promise<SkillManifest>;
}

/** Registers what every adapter must do with a folder of skills, on the runtime it is for. */
export function skillDirectoryContract(
  runtime: Runtime,
  { fsSkillSource, bundleSkills }: SkillDirectoryAdapter,
): void {
  const runtimes = [runtime];

  test("a folder offers the directories that hold a SKILL.md", {
    runtimes,
  }, async () => {
    await inFolder({
      "b/SKILL.md": "B",
      "b/template.md": "T",
      "b/other.md": "O",
      "a/SKILL.md": "A",
      "a/examples/sample.md": "S",
      "C/SKILL.md": "C",
      "lower/skill.md": "no",
      "deep/er/SKILL.md": "no",
      "SKILL.md": "no",
      "plain.md": "no",
      ".hidden/SKILL.md": "no",
      "node_modules/SKILL.md": "no",
      "directory/SKILL.md/x": "no",
    }, async (root) => {
      const source = fsSkillSource(root);
      assertEquals(source.id, root);
      assertEquals(await source.list(), [
        { dir: "C", files: ["SKILL.md"] },
        { dir: "a", files: ["SKILL.md", "examples/sample.md"] },
        { dir: "b", files: ["SKILL.md", "template.md"] },
      ]);
      assertEquals(await source.read("b", "other.md"), "O");
      assertEquals(await source.read("b", "absent.md"), undefined);
      assertEquals(await source.read("b", "SKILL.md/x"), undefined);
      assertEquals(await source.read("a", "examples"), undefined);
      assertEquals(await source.read("elsewhere", "SKILL.md"), undefined);
    });
  });

  test("a manager shows where the files of a folder really are", {
    runtimes,
  }, async () => {
    await inFolder({ "real/SKILL.md": "RULES" }, async (root) => {
      await symlink(join(root, "real"), join(root, "link"));
      const source = fsSkillSource(pathToFileURL(`${root}/`), { id: "files" });
      const manager = new SkillManager({ source });
      await manager.discover();
      assertEquals(
        manager.skills.map((
          { name, sourceId, location },
        ) => [name, sourceId, location]),
        [
          ["link", "files", `${root}/real/SKILL.md`],
          ["real", "files", `${root}/real/SKILL.md`],
        ],
      );
    });
  });

  test("a folder that is not there is told", { runtimes }, async () => {
    await inFolder({ "file": "" }, async (root) => {
      for (const missing of [join(root, "absent"), join(root, "file")]) {
        const manager = new SkillManager({ source: fsSkillSource(missing) });
        await assertRejects(
          () => manager.discover(),
          SkillError,
          `skills root not found: ${missing}`,
        );
      }
    });
  });

  test("nothing outside of the skill is ever read", {
    case: "TL-167",
    runtimes,
  }, async () => {
    await inFolder({
      "secret": "s3cret",
      "skills/a/SKILL.md": "A",
      "skills/a/references/x.md": "X",
      "skills/a2/SKILL.md": "A2",
    }, async (root) => {
      const skill = join(root, "skills/a");
      await symlink(join(root, "secret"), join(skill, "leaving.md"));
      await symlink(join(root, "skills/a2"), join(skill, "sideways"));
      await symlink("references/x.md", join(skill, "staying.md"));
      const manager = new SkillManager({
        source: fsSkillSource(join(root, "skills")),
      });
      await manager.discover();
      const tool = createSkillReadTool(manager);
      const read = async (path: string) =>
        (await tool.invoke({ skill: "a", path })).data;

      for (
        const path of [
          "../secret",
          "/etc/passwd",
          "a//b",
          "./a",
          "a\\b",
          "C:/x",
          "a/../b",
          "leaving.md",
          "sideways/SKILL.md",
          join(root, "skills/a2/SKILL.md"),
          join(skill, "leaving.md"),
        ]
      ) {
        assertEquals(await read(path), {
          status: "error",
          error: "path is not inside the skill",
        }, path);
      }
      assertEquals(await read("%2e%2e/x"), {
        status: "error",
        error: "the skill has no such file",
      });
      for (
        const path of [
          "references/x.md",
          "staying.md",
          join(skill, "references/x.md"),
        ]
      ) {
        assertEquals(await read(path), { status: "success", content: "X" });
      }
    });
  });

  test("a link that leads nowhere breaks its own skill and no other", {
    runtimes,
  }, async () => {
    await inFolder({
      "good/SKILL.md": "G",
      "circle/other.md": "",
      "dangling/other.md": "",
    }, async (root) => {
      await symlink("nothing", join(root, "absent"));
      await symlink("loop", join(root, "loop"));
      await symlink("SKILL.md", join(root, "circle/SKILL.md"));
      await symlink("nothing", join(root, "dangling/SKILL.md"));
      await symlink("template.md", join(root, "good/template.md"));
      await symlink("nothing", join(root, "good/absent.md"));
      const source = fsSkillSource(root);
      const manager = new SkillManager({ source, onDiagnostic: () => {} });
      await manager.discover();

      assertEquals(manager.skills.map(({ name }) => name), ["good"]);
      assertEquals(
        manager.diagnostics
          .filter(({ kind }) => kind !== "unusual")
          .map(({ kind, location }) => [kind, location]),
        ["absent", "circle", "dangling", "loop"].map((dir) => [
          "left_out",
          `${root}/${dir}/SKILL.md`,
        ]),
      );
      await manager.prepare("good");
      assertEquals(
        manager.message("good")?.content,
        'Active skill: "good"\n\n[SKILL.md]\nG',
      );
      assertEquals(await manager.read("good", "absent.md"), undefined);

      await assertRejects(
        () => bundleSkills(root),
        SkillError,
        `${root}/absent: The link leads nowhere`,
      );
      for (const dir of ["absent", "circle", "dangling", "loop"]) {
        await rm(join(root, dir), { recursive: true });
      }
      assertEquals((await bundleSkills(root)).skills, [
        { dir: "good", files: { "SKILL.md": "G" } },
      ]);
    });
  });

  test("names that are too long or hidden name no file", {
    runtimes,
  }, async () => {
    await inFolder({
      "a/SKILL.md": "A",
      "a/.env": "SECRET=1",
      "a/.git/config": "SECRET=2",
      "a/node_modules/m/index.js": "",
      "a/..data/x.md": "X",
    }, async (root) => {
      await symlink("..data/x.md", join(root, "a/x.md"));
      const manager = new SkillManager({ source: fsSkillSource(root) });
      await manager.discover();
      const tool = createSkillReadTool(manager);
      const read = async (path: string) =>
        (await tool.invoke({ skill: "a", path })).data;

      for (
        const path of [
          "x".repeat(300),
          "x/".repeat(3000) + "y",
          ".env",
          ".git/config",
          "node_modules/m/index.js",
        ]
      ) {
        assertEquals(await read(path), {
          status: "error",
          error: "the skill has no such file",
        }, path.slice(0, 30));
      }
      // Mounted configuration consists of links to hidden files.
      assertEquals(await read("x.md"), { status: "success", content: "X" });
    });
  });

  test("files that are too large or no text are refused", {
    runtimes,
  }, async () => {
    await inFolder({
      "a/SKILL.md": "A",
      "a/large.md": "x".repeat(262_145),
      "a/full.md": "x".repeat(262_144),
      "a/picture.png": Uint8Array.of(0x89, 0x50, 0xff),
      "a/marked.md": "\uFEFFtext",
    }, async (root) => {
      const source = fsSkillSource(root);
      await source.list();
      await assertRejects(
        () => source.read("a", "large.md"),
        SkillError,
        "262144 bytes",
      );
      await assertRejects(
        () => source.read("a", "picture.png"),
        SkillError,
        "must be UTF-8",
      );
      assertEquals((await source.read("a", "full.md"))?.length, 262_144);
      assertEquals(await source.read("a", "marked.md"), "text");
    });
  });

  test("a folder becomes a manifest with all its texts", {
    runtimes,
  }, async () => {
    await inFolder({
      "b/SKILL.md": "B",
      "a/SKILL.md": "A",
      "a/references/deep/x.md": "X",
      "a/assets/picture.png": Uint8Array.of(0xff),
      "a/.env": "KEY=1",
      "a/node_modules/m/index.js": "",
      "a/__proto__": "P",
      "elsewhere.md": "E",
    }, async (root) => {
      await symlink(root, join(root, "a/up"));
      await symlink("references", join(root, "a/link"));
      await symlink(join(root, "elsewhere.md"), join(root, "a/out.md"));
      const leftOut: string[] = [];
      const manifest = await bundleSkills(root, {
        id: "bundle",
        onLeftOut: ({ location }) => leftOut.push(location ?? ""),
      });
      assertEquals(JSON.parse(JSON.stringify(manifest)), {
        id: "bundle",
        skills: [
          {
            dir: "a",
            files: JSON.parse(
              '{"SKILL.md":"A","__proto__":"P","references/deep/x.md":"X"}',
            ),
          },
          { dir: "b", files: { "SKILL.md": "B" } },
        ],
      });
      assertEquals(leftOut, [`${root}/a/assets/picture.png`]);

      const source = manifestSkillSource(manifest);
      const manager = new SkillManager({ source });
      await manager.discover();
      assertEquals(await manager.read("a", "references/deep/x.md"), "X");
      assertStringIncludes(
        String(manager.indexMessage()?.content),
        "skill://bundle/b/SKILL.md",
      );
    });
  });

  test("a SKILL.md that is no text breaks the bundle and not the manager", {
    runtimes,
  }, async () => {
    await inFolder({ "a/SKILL.md": Uint8Array.of(0xff) }, async (root) => {
      await assertRejects(() => bundleSkills(root), SkillError, "UTF-8");
      await assertRejects(
        () => bundleSkills(join(root, "a")),
        SkillError,
        `No directory in ${root}/a holds a SKILL.md`,
      );
      const manager = new SkillManager({
        source: fsSkillSource(root),
        onDiagnostic: () => {},
      });
      await manager.discover();
      assertEquals(manager.diagnostics.map(({ kind }) => kind), ["left_out"]);
    });
  });
}

async function inFolder(
  files: Readonly<Record<string, string | Uint8Array>>,
  body: (root: string) => Promise<void>,
): Promise<void> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "skills-")));
  try {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(join(root, dirname(path)), { recursive: true });
      await writeFile(join(root, path), content);
    }
    await body(root);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
