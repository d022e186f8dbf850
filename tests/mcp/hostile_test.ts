import { startProgram } from "../faults/processes.ts";
import { runtimesWith } from "../support/runtime.ts";
import { test } from "../support/suite.ts";

const scenarios = {
  die: "a server that dies in a call fails the call and is started again",
  die_in_a_word: "a server that dies in the middle of an answer is no worse",
  never_end_a_line: "a server that never ends a line is given up",
  never_answer: "a server that does not answer is not waited for",
  answer_twice: "a second answer is ignored",
  talk_garbage: "what is no message is passed over",
  flood: "notifications that come faster than observers are not piled up",
  flood_errors: "a flood of errors without a line break is cut",
  deaf: "a server that hangs at start-up is left out and killed",
  unlicensed: "a server that ends at once says why",
  last_words: "a server that ends later is known by its last words",
  not_there: "a program or a directory that is not there is named",
  shut_down: "a shutdown of the agent ends a server that has not started",
  change: "a schema that changes during a run is that of the next turn",
  many: "2,000 tools in pages are all callable, under the same names each time",
};

for (const [scenario, title] of Object.entries(scenarios)) {
  test(
    title,
    { runtimes: runtimesWith("processes"), timeoutMs: 60_000 },
    async () => {
      await startProgram("tests/mcp/hostile_program.ts", scenario).done;
    },
  );
}
