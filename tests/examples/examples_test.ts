import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { env } from "node:process";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { childProgram } from "../support/child_program.ts";
import { runtimesWith } from "../support/runtime.ts";
import { test } from "../support/suite.ts";

interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program without a key and without a terminal; rejects if it fails. */
async function run(path: string, ...args: string[]): Promise<Output> {
  const { command, args: rest } = await childProgram(path, ...args);
  return new Promise((resolve, reject) => {
    execFile(command, [...rest], {
      env: { ...env, MODEL_API_KEY: "", NO_COLOR: "1" },
    }, (error, stdout, stderr) => {
      if (error === null) resolve({ stdout, stderr });
      else reject(error);
    }).stdin?.end();
  });
}

const opening =
  /^Asking the embedded model server at http:\/\/127\.0\.0\.1:\d+\/v1; set MODEL_API_KEY, MODEL_URL and CHAT_MODEL to ask a real one\n/;

/** What an example prints behind the line that names the provider. */
async function outputOf(name: string): Promise<string[]> {
  const { stdout, stderr } = await run(
    "tests/examples/example_program.ts",
    name,
  );
  assertEquals(stderr, "");
  assertMatch(stdout, opening);
  return stdout.replace(opening, "").trimEnd().split("\n");
}

const hosts = { runtimes: runtimesWith("processes", "listen") };

test("the stateful chat remembers", hosts, async () => {
  assertEquals(await outputOf("01_stateful_chat"), [
    "you> My name is Ada.",
    "companion> Nice to meet you, Ada!",
    "you> What is my name?",
    "companion> You are Ada.",
  ]);
});

test("the custom tool is called before the answer", hosts, async () => {
  assertEquals(await outputOf("02_custom_tool"), [
    "There are 12 apples left.",
    "turns: 2, stop reason: text_response",
  ]);
});

test("a hook stops a run, which goes on afterwards", hosts, async () => {
  assertEquals(await outputOf("03_behavior_hook"), [
    "paid 180 euros for invoice A-17",
    "paid 440 euros for invoice A-18",
    "behavior_stop after turn 2: 620 euros are paid; may I go on?",
    "go on, up to 1000 euros",
    "paid 95 euros for invoice A-19",
    "All three invoices are paid.",
  ]);
});

test("control from outside says what became of it", hosts, async () => {
  assertEquals(await outputOf("09_runtime_control"), [
    "steering: agent_idle",
    "steering: accepted, follow-up: accepted",
    "> By train it takes 8 h 12 min.",
    "steering: applied in turn 1",
    "> The way back takes as long.",
    "abort: true",
    "steering: run_closing",
    "cancelled: there is no ship",
    "abort: false",
  ]);
});

test(
  "a spent budget ends a run, which goes on with a fresh one",
  hosts,
  async () => {
    assertEquals(await outputOf("13_usage_budget"), [
      "token_budget_exceeded after 2 turn(s): 350 tokens in 2 request(s), 0 of them from the cache",
      "text_response after 2 turn(s): 542 tokens in 2 request(s), 180 of them from the cache",
      "A ship leaves, is lost and found again.",
    ]);
  },
);

test("an MCP server reads files", hosts, async () => {
  assertEquals(await outputOf("04_mcp_tools"), [
    "14 tools, 10 of them only read",
    "files__list_directory:",
    '{"content":"[FILE] SKILL.md\\n[DIR] examples\\n[DIR] references\\n[FILE] template.md"}',
    "files__read_text_file:",
    '{"content":"## VERSION (DATE)"}',
    "The template begins with the version and the date of the release.",
  ]);
});

test("a skill is asked for by name", hosts, async () => {
  assertEquals(await outputOf("06_skill"), [
    "(unusual: The name is not made of lower-case letters, digits and single hyphens)",
    "Active skill: release_notes",
    "## 2.5.0 (2026-04-01)",
    "",
    "Downloads can be paused.",
    "",
    "### New",
    "",
    "- Pause a download with `handle.pause()`.",
  ]);
});

test("streaming shows thinking, tools and text in order", hosts, async () => {
  assertEquals(await outputOf("11_streaming_events"), [
    "--- turn 1",
    "I had better look that up.",
    "96 tokens read, 31 written",
    'distance({"from":"Paris","to":"Berlin"}) -> {"kilometres":878}',
    "--- turn 2",
    "It is 878 kilometres.",
    "141 tokens read, 7 written",
    "--- completed",
  ]);
});

test(
  "reads run at the same time and the write behind them",
  hosts,
  async () => {
    const output = await outputOf("05_parallel_lookup");
    assertEquals(output.slice(-2), [
      "Go to Lisbon, it is sunny there.",
      "look-ups at the same time: 3",
    ]);
    assertEquals(
      output[6],
      'started   write_note {"line":"Lisbon wins"}',
    );
    assertEquals(
      output[7],
      'completed noted "Lisbon wins" while 0 look-ups ran',
    );
  },
);

test("the composed harness checks, asks and finishes", {
  ...hosts,
  case: "TL-175",
}, async () => {
  const oneRun = [
    "approved: Tool: finish",
    "audit: finish -> continue",
    "audit: finish -> continue",
    "audit: inspect_project -> continue",
    "approved: Tool: finish",
    "audit: finish -> complete",
    'completed after 4 turns: {"status":"finished","report":"Two files, all well"}',
  ];
  assertEquals(await outputOf("10_composed_harness"), [...oneRun, ...oneRun]);
});

test("progress stands between the start and the end of its tool", {
  ...hosts,
  case: "TL-174",
}, async () => {
  assertEquals(await outputOf("12_tool_progress"), [
    "build_index started",
    "  discovering files 1/3",
    "  parsing modules 2/3",
    "  building index 3/3",
    "build_index completed",
    'tool_completion: {"status":"indexed","files":24,"symbols":137}',
  ]);
});

test(
  "observers count, audit and fail without changing the run",
  hosts,
  async () => {
    assertEquals(await outputOf("07_event_observers"), [
      "#5 roll_die was called",
      "#11 the run is completed",
      "You rolled a four.",
      "turns: 2",
      "events: 11",
      "contained failures: 11",
    ]);
  },
);

test("an agent built anew goes on in its session", hosts, async () => {
  assertEquals(await outputOf("08_session_resume"), [
    "Noted: the code word is heron.",
    "The code word is heron.",
    "As I said: heron.",
    "task: text_response",
    "task: text_response",
    "continue: text_response",
  ]);
});

test("a conversation under pressure shortens itself", hosts, async () => {
  const output = await outputOf("14_context_pressure");
  assertEquals(output.slice(-3), [
    "  summarised 4 messages",
    "  73 % full: below_threshold",
    "The bridge is 312 metres long.",
  ]);
});

test("the model writes a summary on request", hosts, async () => {
  assertEquals(await outputOf("15_explicit_compaction"), [
    "completed: 5 messages became 4",
    "The user plans four nights in Lisbon in May, arriving by train.",
    "You go to Lisbon.",
  ]);
});

test("every line of a session's story is kept", hosts, async () => {
  assertEquals((await outputOf("17_session_tree")).slice(-3), [
    "main: Once there was a fox. The fox met a crow.",
    "quiet: Once there was a fox. The fox fell asleep.",
    "again: Once there was a fox. The fox met an owl.",
  ]);
});

test("a process that dies in a tool leaves a session to go on with", {
  runtimes: ["deno"],
}, async () => {
  const { stdout, stderr } = await run("examples/16_durable_session.ts");
  assertEquals(stderr, "");
  const lines = stdout.trimEnd().split("\n").slice(1);
  assertEquals(lines.slice(0, 3), [
    "paying, and then the power fails",
    "the first process ended with code 7",
    "The payment was interrupted. Please check the account first.",
  ]);
  assertEquals(JSON.parse(lines[3]!).status, "interrupted");
});

test(
  "one audit sees an agent of our own and a foreign one",
  hosts,
  async () => {
    assertEquals(await outputOf("21_audit_middleware"), [
      "audit: clerk is asked",
      "audit: clerk used find_parcel",
      "audit: clerk is completed, turns: 2",
      "Parcel A7 is in Lyon.",
      "audit: translator is asked",
      "audit: translator is completed, turns: 1",
      "Le colis A7 est à Lyon.",
    ]);
  },
);

test("what was retrieved for a run is not kept", hosts, async () => {
  assertEquals(await outputOf("22_retrieval_provider"), [
    "you> How many days of holidays do I have?",
    "(found 1 of 3 passages)",
    "colleague> You have 30 days a year; ask two weeks ahead.",
    "you> Which class do I travel in by train?",
    "(found 1 of 3 passages)",
    "colleague> Second class.",
    "5 messages are kept, 0 of them quoted",
  ]);
});

test("a sub-agent works and is accounted for on its own", hosts, async () => {
  assertEquals(await outputOf("25_sub_agent"), [
    "  researcher: Calls look_up",
    "  researcher: 330 metres.",
    "researcher: completed, 2 turns, 223 tokens",
    "The Eiffel Tower rises 330 metres above Paris.",
    "editor: 294 tokens of its own",
  ]);
});

test("a traced run is printed as a tree of its spans", hosts, async () => {
  const [answer, ...tree] = await outputOf("23_traced_run");
  assertEquals(answer, "Lyon lies where the Saône meets the Rhône.");
  assertEquals(tree.map((line) => line.replace(/\(\d+ ms/, "(")), [
    "invoke_agent author (, 220 + 32 tokens)",
    "  chat scripted (, 90 + 20 tokens)",
    "  execute_tool geographer ()",
    "    invoke_agent geographer (, 165 + 24 tokens)",
    "      chat scripted (, 70 + 15 tokens)",
    "      execute_tool atlas ()",
    "      chat scripted (, 95 + 9 tokens)",
    "  chat scripted (, 130 + 12 tokens)",
  ]);
});

test(
  "an agent is served to a front end and to another agent",
  hosts,
  async () => {
    assertEquals(await outputOf("24_served_agent"), [
      "sse agent_started",
      "sse turn_started",
      "sse assistant_text_delta: Guten ",
      "sse assistant_text_delta: Morgen.",
      "sse message_completed",
      "sse turn_completed",
      "sse agent_finished",
      "sse result",
      "a2a translator: Gute Nacht.",
      "In German one says: Gute Nacht.",
    ]);
  },
);

test("every example runs offline and without a word of complaint", {
  runtimes: ["deno"],
  timeoutMs: 120_000,
}, async () => {
  const names = readdirSync("examples").filter((name) =>
    /^\d\d_\w+\.ts$/.test(name)
  );
  for (const name of names) {
    const { stdout, stderr } = await run(`examples/${name}`);
    assertEquals([name, stderr], [name, ""]);
    assertMatch(stdout, /\S/);
  }
});

test("the demo streams, calls a tool, counts and remembers elsewhere too", {
  runtimes: ["deno"],
  timeoutMs: 120_000,
}, async () => {
  const { stdout, stderr } = await run("scripts/demo.ts");
  assertEquals(stderr, "");
  assertMatch(stdout, opening);
  assertEquals(stdout.includes("\x1b"), false, "no colours without a terminal");
  const stops = [
    "1. Streaming",
    "guide ~ Two sentences",
    "guide > I am the guide",
    "2. A tool",
    'tool  * count_primes {"limit":200000}',
    "searched up to 50000",
    "searched up to 200000",
    '{"limit":200000,"count":17984}',
    "There are 17984 primes below 200000.",
    "completed after 2 turns; 285 tokens read, 46 written",
    "3. Memory",
    "guide > It was 200000.",
    "4. Another process",
    "has read 8 messages",
    "guide > It was 200000.",
  ];
  let position = 0;
  for (const stop of stops) {
    const found = stdout.indexOf(stop, position);
    assertEquals([stop, found >= position], [stop, true]);
    position = found + stop.length;
  }
});
