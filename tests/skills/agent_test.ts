import { AgentContextBuilder, type AgentMessage } from "../../mod.ts";
import { block, text } from "../../src/testing/mod.ts";
import { SkillManager } from "../../src/skills/manager.ts";
import type { SkillSource } from "../../src/skills/source.ts";
import { agentWith, contentsOf } from "../agent/fixtures.ts";
import {
  assert,
  assertEquals,
  assertStringIncludes,
} from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { countingSource, managerOf } from "./sources.ts";

/** Name of the skill whose text is in a request. */
function activeIn(messages: readonly AgentMessage[] | undefined) {
  const texts = contentsOf(messages ?? []).map(String);
  return texts.map((content) => /^Active skill: "(.*)"/.exec(content)?.[1])
    .find((name) => name !== undefined);
}

test("the list of skills stands behind the system prompt and is not stored", {
  case: "TL-155",
}, async () => {
  const skills = await managerOf({
    "release_notes/SKILL.md":
      "---\nname: release_notes\ndescription: Write notes.\n---\nRULES",
  });
  const { agent, model } = agentWith([text("hi")], { skills });
  await agent.run("hello");

  const sent = model.contexts[0]?.llmMessages ?? [];
  assertEquals(sent.map(({ role }) => role), ["system", "system", "user"]);
  assertEquals(String(sent[1]?.content).split("\n").slice(-4), [
    "Available skills:",
    "- name: release_notes",
    "  description: Write notes.",
    "  location: skill://mem/release_notes/SKILL.md",
  ]);
  assert(!JSON.stringify(sent).includes("RULES"));
  assertEquals(model.contexts[0]?.tools, []);
  assertEquals(contentsOf(agent.messages), ["P", "hello", "hi"]);
});

test(
  "a skill that is asked for is sent whole, each file read once over two runs",
  {
    case: "TL-156",
  },
  async () => {
    const { source, reads } = countingSource({
      "release_notes/SKILL.md": "RULES",
      "release_notes/template.md": "T",
      "release_notes/examples/sample.md": "S",
    });
    const skills = new SkillManager({ source });
    const { agent, model } = agentWith([text("one"), text("two")], { skills });
    await agent.run("$release_notes go");
    await agent.run("$release_notes again");
    for (const { llmMessages } of model.contexts) {
      assertEquals(
        llmMessages[2]?.content,
        'Active skill: "release_notes"\n\n[SKILL.md]\nRULES\n\n[template.md]\nT\n\n[examples/sample.md]\nS',
      );
    }
    assertEquals([...reads.values()], [1, 1, 1]);
  },
);

test("skills that are added later wait for a refresh", {
  case: "TL-157",
}, async () => {
  const files: Record<string, string> = { "a/SKILL.md": "A" };
  const { source } = countingSource(files);
  const skills = new SkillManager({ source });
  const script = [text("1"), text("2"), text("3")];
  const { agent, model } = agentWith(script, { skills });
  await agent.run("one");
  files["b/SKILL.md"] = "B";
  await agent.run("two");
  await skills.refresh();
  await agent.run("three");
  const listsB = model.contexts.map(({ llmMessages }) =>
    String(llmMessages[1]?.content).includes("- name: b")
  );
  assertEquals(listsB, [false, false, true]);
});

test("a refresh during a run leaves the active skill as it is", async () => {
  const files: Record<string, string> = { "a/SKILL.md": "BEFORE" };
  const skills = await managerOf(files);
  const gate = block();
  const { agent, model } = agentWith(
    [gate, text("one"), text("two")],
    { skills },
  );
  const first = agent.run("$a");
  await gate.entered;
  files["a/SKILL.md"] = "AFTER";
  await skills.refresh();
  agent.steer("hello");
  gate.release(text("go on"));
  await first;
  await agent.run("$a");
  assertEquals(
    model.contexts.map(({ llmMessages }) =>
      String(llmMessages[2]?.content).split("\n").at(-1)
    ),
    ["BEFORE", "BEFORE", "AFTER"],
  );
});

test("the latest user message decides which skill is active", {
  case: "TL-165",
}, async () => {
  const skills = await managerOf({ "x/SKILL.md": "X", "y/SKILL.md": "Y" });
  const gates = [block(), block()] as const;
  const { agent, model } = agentWith([
    ...gates,
    text("end of the first"),
    text("second"),
    text("third"),
    text("continued"),
  ], { skills });

  const first = agent.run("$x");
  await gates[0].entered;
  agent.steer("now $y");
  gates[0].release(text("one"));
  await gates[1].entered;
  agent.steer("hello");
  gates[1].release(text("two"));
  await first;
  assertEquals(
    model.contexts.map(({ llmMessages }) => activeIn(llmMessages)),
    ["x", "y", "y"],
  );
  assertEquals(agent.state.activeSkillName, "y");

  await agent.run("no mention");
  assertEquals(activeIn(model.contexts[3]?.llmMessages), undefined);
  assertEquals(agent.state.activeSkillName, null);

  await agent.run("$x");
  await agent.continueRun();
  assertEquals(activeIn(model.contexts[5]?.llmMessages), "x");
});

test("a mention in a part of a message counts", {
  case: "TL-166",
}, async () => {
  const skills = await managerOf({ "x/SKILL.md": "X" });
  const { agent, model } = agentWith([text("ok")], { skills });
  await agent.run([{ type: "text", text: "$x please" }]);
  assertEquals(activeIn(model.contexts[0]?.llmMessages), "x");
});

test("an own context builder is given the skills as well", {
  case: "TL-168",
}, async () => {
  class OwnBuilder extends AgentContextBuilder {
    override convertToLlmMessages(messages: readonly AgentMessage[]) {
      return messages.filter(({ role }) => role !== "tool");
    }
  }
  const skills = await managerOf({ "x/SKILL.md": "X" });
  const contextBuilder = new OwnBuilder();
  const options = { skills, contextBuilder };
  const { agent, model } = agentWith([text("ok")], options);
  await agent.run("$x");
  const sent = contentsOf(model.contexts[0]?.llmMessages ?? []).map(String);
  assertStringIncludes(sent[1] ?? "", "- name: x");
  assertStringIncludes(sent[2] ?? "", 'Active skill: "x"');
});

test("a skill that cannot be read fails the run that asks for it", async () => {
  const { source } = countingSource({
    "x/SKILL.md": "X",
    "x/template.md": "T",
  });
  const failing: SkillSource = {
    ...source,
    read: (dir, path) =>
      path === "template.md"
        ? Promise.reject(new Error("gone"))
        : source.read(dir, path),
  };
  const skills = new SkillManager({ source: failing });
  const { agent } = agentWith([text("never")], { skills });
  const result = await agent.run("$x");
  assertEquals(
    [result.status, result.stopReason],
    ["failed", "runtime_error"],
  );
  assertStringIncludes(result.error ?? "", "gone");
});
