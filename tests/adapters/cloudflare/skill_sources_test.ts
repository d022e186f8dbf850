import {
  kvSkillSource,
  type R2Bucket,
  r2SkillSource,
} from "../../../adapters/cloudflare/skill_sources.ts";
import { SkillError } from "../../../src/skills/errors.ts";
import { SkillManager } from "../../../src/skills/manager.ts";
import type { SkillSource } from "../../../src/skills/source.ts";
import { assertEquals, assertRejects } from "../../support/assert.ts";
import { test } from "../../support/suite.ts";
import { memoryKv } from "./memory_kv.ts";

const files = new Map([
  ["skills/", ""],
  ["skills/pdf/", ""],
  ["skills/pdf//twice.md", "Not a path"],
  ["skills/pdf/SKILL.md", "Read page by page."],
  ["skills/pdf/template.md", "# Title"],
  ["skills/greeting/SKILL.md", "Say hello first."],
  ["skills/notes.txt", "Not a skill"],
  ["skills/empty/other.md", "No skill either"],
  ["elsewhere/pdf/SKILL.md", "Another one"],
]);

/** A bucket over the same texts. */
function bucketOf(texts: ReadonlyMap<string, string>): R2Bucket {
  const kv = memoryKv(new Map(texts));
  return {
    async get(key) {
      const text = await kv.get(key);
      return text === null ? null : { text: () => Promise.resolve(text) };
    },
    async list({ prefix = "", cursor }) {
      const list = await kv.list({ prefix, cursor: cursor ?? null });
      return {
        objects: list.keys.map(({ name }) => ({ key: name })),
        truncated: !list.list_complete,
        ...(list.cursor !== undefined && { cursor: list.cursor }),
      };
    },
  };
}

const sources: Readonly<Record<string, (prefix: string) => SkillSource>> = {
  "Workers KV": (prefix) => kvSkillSource(memoryKv(new Map(files)), { prefix }),
  "an R2 bucket": (prefix) => r2SkillSource(bucketOf(files), { prefix }),
};

for (const [place, makeSource] of Object.entries(sources)) {
  test(`skills are found and read in ${place}`, async () => {
    const source = makeSource("skills/");
    const refs = [...await source.list()].sort((a, b) =>
      a.dir < b.dir ? -1 : 1
    );
    assertEquals(refs, [
      { dir: "greeting", files: ["SKILL.md"] },
      { dir: "pdf", files: ["SKILL.md", "template.md"] },
    ]);
    assertEquals(await source.read("pdf", "template.md"), "# Title");
    assertEquals(await source.read("pdf", "nothing.md"), undefined);

    const skills = new SkillManager({ source });
    await skills.discover();
    assertEquals(
      skills.get("pdf").location,
      `skill://${source.id}/pdf/SKILL.md`,
    );
  });
  test(`a prefix without its slash is told in ${place}`, async () => {
    await assertRejects(
      () => makeSource("skills").list(),
      SkillError,
      'give "skills/"',
    );
  });
}
