import {
  McpToolHandler,
  type McpToolHandlerOptions,
} from "../../src/mcp/mod.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { deferred } from "../support/deferred.ts";

/** What a handler must be able to do with the server that has everything. */
export async function useEverything(handler: McpToolHandler): Promise<void> {
  assertEquals(handler.serverStatus("all"), { status: "connected" });
  assertEquals(
    handler.diagnostics.map(({ toolName, message }) => [toolName, message]),
    [
      ["simulate-research-query", "The tool runs as a task only"],
    ],
  );
  assert(handler.toolNames.includes("all__get-structured-content"));

  const dispatch = async (name: string, args: Record<string, unknown>) =>
    (await handler.dispatch(`all__${name}`, args)).data;
  assertEquals(await dispatch("echo", { message: "hi" }), "Echo: hi");
  const weather = await dispatch("get-structured-content", {
    location: "New York",
  });
  assertEquals(Object.keys(weather as object).sort(), [
    "conditions",
    "humidity",
    "temperature",
  ]);
  const { content } = await dispatch("get-tiny-image", {}) as {
    content: { type: string; mimeType?: string; bytes?: number }[];
  };
  const image = content.find(({ type }) => type === "image");
  assertEquals(image?.mimeType, "image/png");
  assert((image?.bytes ?? 0) > 100);
  assertEquals(
    await dispatch("trigger-elicitation-request", {}).then((data) =>
      JSON.stringify(data).includes("Ada")
    ),
    true,
  );
  await followProgress(handler);
  await abortCall(handler);
}

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
