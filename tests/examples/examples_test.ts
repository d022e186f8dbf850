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

test("the demo streams, calls a tool, counts and remembers", {
  runtimes: ["deno"],
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
  ];
  let position = 0;
  for (const stop of stops) {
    const found = stdout.indexOf(stop, position);
    assertEquals([stop, found >= position], [stop, true]);
    position = found + stop.length;
  }
});
