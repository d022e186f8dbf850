import {
  McpToolHandler,
  type McpToolHandlerOptions,
} from "../../src/mcp/mod.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";
import { callEveryTool, type ExpectedCall } from "./mcp_every_tool.ts";

/** What a handler must be able to do with the server that has everything. */
export async function useEverything(handler: McpToolHandler): Promise<void> {
  assertEquals(handler.serverStatus("all"), { status: "connected" });
  assertEquals(
    handler.diagnostics.map(({ toolName, message }) => [toolName, message]),
    [
      ["simulate-research-query", "The tool runs as a task only"],
    ],
  );
  await callEveryTool(handler, calls);
  await followProgress(handler);
  await abortCall(handler);
}

/** A handler over the server that has everything, with every hook. */
export function everythingHandler(
  server: NonNullable<McpToolHandlerOptions["servers"]>[string],
  rest: Partial<McpToolHandlerOptions> = {},
): McpToolHandler {
  return new McpToolHandler({
    servers: { all: server },
    onElicit: () => ({ action: "accept", content: { name: "Ada" } }),
    onSample: () => ({
      model: "m",
      role: "assistant",
      content: { type: "text", text: "sampled" },
    }),
    roots: [{ uri: "file:///project" }],
    logger: new RecordingLogger(),
    ...rest,
  });
}

const picture = { type: "image", mimeType: "image/png", bytes: 4033 };
const zip = {
  uri: "demo://resource/session/hello.gz",
  mimeType: "application/gzip",
};

const calls: readonly ExpectedCall[] = [
  { tool: "echo", arguments: { message: "hi" }, data: "Echo: hi" },
  {
    tool: "get-annotated-message",
    arguments: { messageType: "error", includeImage: true },
    data: {
      content: [{ type: "text", text: "Error: Operation failed" }, picture],
    },
  },
  { tool: "get-env", data: /"PATH"/ },
  {
    tool: "get-resource-links",
    arguments: { count: 1 },
    data: {
      content: [
        {
          type: "text",
          text:
            "Here are 1 resource links to resources available in this server:",
        },
        {
          type: "resource_link",
          uri: "demo://resource/dynamic/blob/1",
          name: "Blob Resource 1",
          mimeType: "text/plain",
          description: "Resource 1: plaintext resource",
        },
      ],
    },
  },
  {
    tool: "get-resource-reference",
    arguments: { resourceType: "Text", resourceId: 1 },
    data: /"uri":"demo:\/\/resource\/dynamic\/text\/1".*"text":"Resource 1: /,
  },
  {
    tool: "get-resource-reference",
    arguments: { resourceType: "Blob", resourceId: 2 },
    data: /"uri":"demo:\/\/resource\/dynamic\/blob\/2".*"bytes":\d+/,
  },
  {
    tool: "get-structured-content",
    arguments: { location: "New York" },
    data: { temperature: 33, conditions: "Cloudy", humidity: 82 },
  },
  {
    tool: "get-sum",
    arguments: { a: 2, b: 3 },
    data: "The sum of 2 and 3 is 5.",
  },
  {
    tool: "get-tiny-image",
    data: {
      content: [
        { type: "text", text: "Here's the image you requested:" },
        picture,
        { type: "text", text: "The image above is the MCP logo." },
      ],
    },
  },
  {
    tool: "gzip-file-as-resource",
    arguments: {
      name: "hello.gz",
      data: "data:text/plain,hello",
      outputType: "resource",
    },
    data: { content: [{ type: "resource", ...zip, bytes: 25 }] },
  },
  {
    tool: "gzip-file-as-resource",
    arguments: { name: "hello.gz", data: "data:text/plain,hello" },
    data: { content: [{ type: "resource_link", name: "hello.gz", ...zip }] },
  },
  { tool: "toggle-simulated-logging", data: /^Started simulated/ },
  { tool: "toggle-simulated-logging", data: /^Stopped simulated/ },
  { tool: "toggle-subscriber-updates", data: /^Started simulated/ },
  { tool: "toggle-subscriber-updates", data: /^Stopped simulated/ },
  { tool: "get-roots-list", data: /URI: file:\/\/\/project\n/ },
  { tool: "trigger-elicitation-request", data: /Name: Ada\n/ },
  {
    tool: "trigger-sampling-request",
    arguments: { prompt: "Hello" },
    data: /"text": "sampled"/,
  },
  {
    tool: "trigger-long-running-operation",
    arguments: { duration: 0.01, steps: 1 },
    data: "Long running operation completed. Duration: 0.01 seconds, Steps: 1.",
  },
];

async function followProgress(handler: McpToolHandler): Promise<void> {
  const told: string[] = [];
  const { data } = await handler.dispatch(
    "all__trigger-long-running-operation",
    { duration: 0.2, steps: 4 },
    {
      progress: {
        report(update) {
          told.push(typeof update === "string" ? update : update.message);
          return Promise.resolve();
        },
      },
    },
  );
  assert(String(data).includes("completed"));
  // The last report may come behind the result.
  assertEquals(told.slice(0, 3), ["1/4", "2/4", "3/4"]);
}

async function abortCall(handler: McpToolHandler): Promise<void> {
  const controller = new AbortController();
  const begun = deferred();
  const call = handler.dispatch(
    "all__trigger-long-running-operation",
    { duration: 1, steps: 10 },
    {
      signal: controller.signal,
      progress: {
        report: () => {
          begun.resolve();
          return Promise.resolve();
        },
      },
    },
  );
  const refused = assertRejects(() => call, Error, "enough");
  await begun.promise;
  controller.abort(new Error("enough"));
  await refused;
}
