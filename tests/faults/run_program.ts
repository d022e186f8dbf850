/**
 * `run_program.ts ROOT EFFECTS DEATH`: runs an agent whose answer calls three
 * tools with side effects, and dies where it is told: `record N` after so many
 * records, `torn N` inside the record after so many, `call N` inside a call.
 * The tools write their names into the file of effects.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { argv, kill, pid } from "node:process";
import { Agent, defineTool, SessionHistoryProvider } from "../../mod.ts";
import type {
  JournalBackend,
  JournalEntry,
} from "../../src/session/journal.ts";
import { JournalTreeStorage } from "../../src/session/tree_storage.ts";
import { ScriptedModel } from "../../src/testing/scripted_model.ts";
import { calls, text } from "../../src/testing/steps.ts";
import { sessionId } from "./drafts.ts";
import { openStorage, pathsOf } from "./platform.ts";

const [root, effects, place, number] = argv.slice(2) as [
  string,
  string,
  "record" | "torn" | "call",
  string,
];
const { backend } = await openStorage(root);
const { journal } = await pathsOf(root, sessionId);

const names = ["one", "two", "three"];
const tools = names.map((name, index) =>
  defineTool({
    name,
    effect: "side_effecting",
    execute: () => {
      appendFileSync(effects, `${name}\n`);
      if (place === "call" && index + 1 === Number(number)) die();
      return name;
    },
  })
);
const agent = new Agent({
  agentId: "worker",
  model: new ScriptedModel([
    calls(names.map((name) => ({ name, arguments: {} }))),
    text("all done"),
  ]),
  tools,
  history: new SessionHistoryProvider({
    storage: new JournalTreeStorage(dying(backend)),
    sessionId,
    journalToolStarts: true,
  }),
});
const result = await agent.run("do it");
console.log(result.output ?? result.error);

function dying(backend: JournalBackend): JournalBackend {
  let recordCount = 0;
  return {
    capabilities: backend.capabilities,
    read: (id, after, options) => backend.read(id, after, options),
    async append(id, entry, options) {
      if (place === "torn" && recordCount === Number(number)) tear(entry);
      const result = await backend.append(id, entry, options);
      recordCount++;
      if (place === "record" && recordCount === Number(number)) die();
      return result;
    },
  };
}

function tear({ line }: JournalEntry): void {
  mkdirSync(root, { recursive: true });
  appendFileSync(journal, line.slice(0, line.length / 2));
  die();
}

function die(): void {
  kill(pid, "SIGKILL");
}
