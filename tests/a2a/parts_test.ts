import type { TaskInput } from "../../mod.ts";
import { toParts, toTask } from "../../src/a2a/parts.ts";
import { A2ARefusal } from "../../src/a2a/errors.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const task: TaskInput = [
  { type: "text", text: "Look" },
  { type: "image_url", image_url: { url: "https://pictures.example/1" } },
  { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
  { type: "input_audio", input_audio: { data: "BBBB", format: "wav" } },
  {
    type: "file",
    file: { file_data: "data:text/csv;base64,CCCC", filename: "t.csv" },
  },
];

test("parts of a task are sent in the form of the protocol", () => {
  assertEquals(toParts([], task), [
    { text: "Look", mediaType: "text/plain" },
    { url: "https://pictures.example/1", mediaType: "image/*" },
    { raw: "AAAA", mediaType: "image/png" },
    { raw: "BBBB", mediaType: "audio/wav" },
    { raw: "CCCC", mediaType: "text/csv", filename: "t.csv" },
  ]);
});

test("and are read back as they were", () => {
  assertEquals(toTask(toParts([], task)), task);
});

test("texts alone are one text, and data is a text in JSON", () => {
  assertEquals(toTask([{ text: "a" }, { text: "b" }]), "a\nb");
  assertEquals(toTask([{ text: "sum" }, { data: [1, 2] }]), "sum\n[1,2]");
});

test("a part that no model can read is refused with the protocol's code", () => {
  for (
    const part of [
      { url: "https://files.example/x", mediaType: "application/zip" },
      { url: "https://files.example/x" },
      {},
    ]
  ) {
    const error = assertThrows(() => toTask([part]), A2ARefusal);
    assertEquals(error.kind, "content_type_not_supported");
  }
});
