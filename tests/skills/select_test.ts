import { mentionedSkill } from "../../src/skills/select.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const names = ["pdf", "pdf-tools", "My_Skill"];

const mentions: Readonly<Record<string, string | null>> = {
  "$pdf go": "pdf",
  "use SKILL:PDF": "pdf",
  "skill:my_skill": "My_Skill",
  "$my_skill": null,
  "a$pdf": null,
  "$pdfx": null,
  "${pdf}": null,
  "skill: pdf": null,
  "xskill:pdf": null,
  "$$pdf": "pdf",
  "cost $pdf.": "pdf",
  "$pdf-tools": "pdf-tools",
  "$pdf-toolsx": null,
  "$pdf-more": null,
  "$pdf- and": "pdf",
  "skill:PDF-Tools": "pdf-tools",
  "请$pdf谢谢": "pdf",
  "($pdf)": "pdf",
  "first $nope then $pdf-tools and $pdf": "pdf-tools",
  "skill:pdf before $My_Skill": "pdf",
  "": null,
  "no mention": null,
};

test("a mention is told from what merely looks like one", {
  case: "TL-158",
}, () => {
  for (const [text, expected] of Object.entries(mentions)) {
    assertEquals(mentionedSkill(text, names), expected, text);
    assertEquals(mentionedSkill(text, names.toReversed()), expected, text);
  }
});

test("of two names that differ in case, the one that is written wins", () => {
  assertEquals(mentionedSkill("skill:pdf", ["PDF", "pdf"]), "pdf");
  assertEquals(mentionedSkill("skill:PDF", ["pdf", "PDF"]), "PDF");
  assertEquals(mentionedSkill("skill:Pdf", ["PDF", "pdf"]), "PDF");
});

test("names are looked through once, not for every mark", () => {
  let reads = 0;
  const names = new Proxy(Array.from({ length: 500 }, (_, i) => `skill-${i}`), {
    get(target, key, receiver) {
      reads++;
      return Reflect.get(target, key, receiver);
    },
  });
  const marks = "$9.99, $skill-x, skill:none ".repeat(1000);
  assertEquals(mentionedSkill(`${marks} $skill-499`, names), "skill-499");
  assert(reads < 10 * names.length, `${reads} reads`);
});

test("any name can be mentioned", () => {
  assertEquals(mentionedSkill("$发布 now", ["发布"]), "发布");
  assertEquals(mentionedSkill("$c++ now", ["c++"]), "c++");
  assertEquals(mentionedSkill("$two words", ["two", "two words"]), "two words");
});
