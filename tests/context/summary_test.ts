import {
  findSummaries,
  SummaryEntry,
  type SummaryEntryInput,
  summaryMessage,
  summaryOf,
} from "../../src/context/summary.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";
import { marked, system, user } from "./messages.ts";

const input: SummaryEntryInput = {
  content: "  They met.  ",
  source: " model ",
  historyStartIndex: 1,
  firstKeptIndex: 5,
  summarizedMessageCount: 4,
  tokensBefore: 280,
};

const wire = {
  content: "They met.",
  source: "model",
  history_start_index: 1,
  first_kept_index: 5,
  summarized_message_count: 4,
  tokens_before: 280,
};

test("a summary is written with the names of the journal and read back", () => {
  const entry = new SummaryEntry(input);
  assertEquals(entry.toJSON(), wire);
  assertEquals(JSON.parse(JSON.stringify(entry)), wire);
  assertEquals(SummaryEntry.fromJson(wire), entry);
  assert(Object.isFrozen(entry));
});

test("a summary stands in the history as one system message", () => {
  const message = summaryMessage(new SummaryEntry(input));
  assertEquals(message, {
    role: "system",
    content: "Conversation summary from earlier turns:\n\nThey met.",
    _ejagent_summary: wire,
  });
  assertEquals(summaryOf(message), new SummaryEntry(input));
});

test("what is no valid summary is not read as one", { case: "SE-E-14" }, () => {
  const broken: unknown[] = [
    null,
    [],
    "text",
    { ...wire, first_kept_index: 1 },
    { ...wire, tokens_before: true },
    { ...wire, tokens_before: 1.5 },
    { ...wire, tokens_before: -1 },
    { ...wire, content: "  " },
    { ...wire, source: 7 },
    { ...wire, summarized_message_count: 0 },
    { ...wire, history_start_index: undefined },
  ];
  for (const value of broken) {
    assertEquals(SummaryEntry.fromJson(value), null);
    const message = marked(system("x"), { _ejagent_summary: value });
    assertEquals(summaryOf(message), null);
  }
  const { tokens_before: _, ...incomplete } = wire;
  assertEquals(SummaryEntry.fromJson(incomplete), null);
});

test("a summary that cannot be is not made", () => {
  const make = (members: object) => () =>
    new SummaryEntry({ ...input, ...members });
  assertThrows(make({ firstKeptIndex: 1 }), RangeError, "firstKeptIndex");
  assertThrows(make({ content: " " }), RangeError, "content");
  assertThrows(make({ source: 1 }), TypeError, "source");
  assertThrows(make({ tokensBefore: "1" }), TypeError, "tokensBefore");
});

test("a summary under the former key is found as well", () => {
  const legacy = marked(system("old"), {
    _simagentplg_summary: { ...wire, content: "older" },
  });
  const forged = marked(user("mine"), { _ejagent_summary: wire });
  const found = findSummaries([
    legacy,
    user("u"),
    forged,
    { ...system("broken"), _ejagent_summary: { content: "x" } },
    summaryMessage(new SummaryEntry(input)),
  ]);
  assertEquals(found.map((entry) => entry.content), ["older", "They met."]);
});
