import { runDeno } from "../../scripts/run.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { test } from "../support/suite.ts";

// These programs bring a platform or a server of their own.
const onDeno = { runtimes: ["deno"], timeoutMs: 120_000 } as const;

/** What an example prints behind the line that names the provider. */
async function outputOf(name: string): Promise<string[]> {
  const { code, stdout, stderr } = await runDeno(
    "run",
    "-A",
    "--no-check",
    "--quiet",
    `examples/${name}.ts`,
  );
  assertEquals([code, stderr], [0, ""]);
  assertMatch(stdout, /^Asking the embedded model server /);
  return stdout.trimEnd().split("\n").slice(1);
}

test(
  "an agent in a Durable Object uses its tool and remembers",
  onDeno,
  async () => {
    assertEquals(await outputOf("18_durable_object_worker"), [
      "you> My lamp is broken.",
      "support> [open_ticket] I have opened ticket 4711 for you.",
      "you> Which number was it?",
      "support> Your ticket is number 4711.",
      "the object holds 6 messages",
    ]);
  },
);

test("a server without memory finds its chats in Deno KV", onDeno, async () => {
  assertEquals(await outputOf("19_deno_kv_server"), [
    "you> My name is Ada.",
    "companion> Nice to meet you, Ada!",
    "you> What is my name?",
    "companion> You are Ada.",
    "Deno KV holds 4 messages",
  ]);
});

test("processes take turns on a session in PostgreSQL", onDeno, async () => {
  assertEquals(await outputOf("20_two_processes_postgres"), [
    "Keeping the session in an embedded PostgreSQL; set DATABASE_URL to use another one",
    "you> My name is Ada.",
    "companion> Nice to meet you, Ada! (a new process, question 1)",
    "you> What is my name?",
    "companion> You are Ada. (a new process, question 2)",
    "you> How often have we talked?",
    "companion> We have talked three times. (a new process, question 3)",
  ]);
});
