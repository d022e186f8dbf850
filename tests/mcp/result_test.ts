import { convertMcpResult, McpToolError } from "../../src/mcp/mod.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const options = { toolName: "demo__lookup" };
const text = (text: string) => ({ type: "text", text });

test("what the model gets of a result", { case: "TL-145" }, () => {
  const image = { type: "image", mimeType: "image/png", data: "AQID" };
  assertEquals(
    convertMcpResult({ content: [text("a"), text("b")] }, options),
    "a\nb",
  );
  assertEquals(
    convertMcpResult(
      { content: [text('{"n":1}')], structuredContent: { n: 1 } },
      options,
    ),
    { n: 1 },
  );
  assertEquals(convertMcpResult({ content: [image] }, options), {
    content: [{ type: "image", mimeType: "image/png", bytes: 3 }],
  });
  assertEquals(convertMcpResult({ content: [] }, options), { content: [] });
  assertEquals(convertMcpResult({}, options), { content: [] });
});

test("blocks that are no text", () => {
  const content = [
    { type: "audio", mimeType: "audio/wav", data: "AQIDBA==", annotations: {} },
    {
      type: "resource",
      resource: { uri: "a://b", mimeType: "text/x", text: "t" },
    },
    { type: "resource", resource: { uri: "a://c", blob: "AQI=" } },
    {
      type: "resource_link",
      uri: "a://d",
      name: "d",
      mimeType: "text/y",
      description: "about",
      size: 3,
    },
    { type: "hologram", data: "AQID" },
    text("t"),
  ];
  assertEquals(convertMcpResult({ content }, options), {
    content: [
      { type: "audio", mimeType: "audio/wav", bytes: 4 },
      { type: "resource", uri: "a://b", mimeType: "text/x", text: "t" },
      { type: "resource", uri: "a://c", bytes: 2 },
      {
        type: "resource_link",
        uri: "a://d",
        name: "d",
        mimeType: "text/y",
        description: "about",
      },
      { type: "hologram" },
      { type: "text", text: "t" },
    ],
  });
  assertEquals(
    convertMcpResult(
      { content: content.slice(0, 3), structuredContent: { n: 1 } },
      { ...options, includeBinary: true },
    ),
    {
      structuredContent: { n: 1 },
      content: [
        { type: "audio", mimeType: "audio/wav", data: "AQIDBA==" },
        { type: "resource", uri: "a://b", mimeType: "text/x", text: "t" },
        { type: "resource", uri: "a://c", blob: "AQI=" },
      ],
    },
  );
});

test("a picture that the structured result repeats is told as its size", () => {
  const image = { type: "image", mimeType: "image/png", data: "AQIDBA==" };
  const result = {
    content: [image],
    structuredContent: { title: "t", pages: [{ n: 1, picture: image.data }] },
  };
  assertEquals(convertMcpResult(result, options), {
    structuredContent: { title: "t", pages: [{ n: 1, picture: "4 bytes" }] },
    content: [{ type: "image", mimeType: "image/png", bytes: 4 }],
  });
  assertEquals(
    convertMcpResult(result, { ...options, includeBinary: true }),
    { structuredContent: result.structuredContent, content: [image] },
  );
});

test("a failure is what the tool said", () => {
  const fail = (content: { type: string; text?: string }[]) =>
    assertThrows(
      () => convertMcpResult({ content, isError: true }, options),
      McpToolError,
    ).message;
  assertEquals(fail([text("no"), { type: "image" }, text("luck")]), "no\nluck");
  assertEquals(fail([]), "MCP tool reported an error");
});

test("content that is no list of blocks is refused", () => {
  for (const content of [null, "text", [null], [[]]]) {
    assertThrows(
      () => convertMcpResult({ content } as never, options),
      McpToolError,
      "MCP tool returned content that is no list of blocks",
    );
  }
});
