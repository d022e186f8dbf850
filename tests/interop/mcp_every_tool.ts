import type { McpToolHandler } from "../../src/mcp/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** A call of a tool and what must come of it. */
export interface ExpectedCall {
  /** Name of the tool on its server. */
  readonly tool: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** The data that the model gets: the same value, a text with a match, or whatever passes. */
  readonly data: unknown;
}

/** Calls tools one after another, and makes sure that none of the server was left out. */
export async function callEveryTool(
  handler: McpToolHandler,
  calls: readonly ExpectedCall[],
): Promise<void> {
  for (const { tool, arguments: args = {}, data: expected } of calls) {
    const [name] = handler.toolNames.filter((name) =>
      name.endsWith(`__${tool}`)
    );
    const { data } = await handler.dispatch(name ?? tool, args);
    if (typeof expected === "function") {
      expected(data);
    } else if (expected instanceof RegExp) {
      assert(expected.test(textOf(data)), `${tool} answered ${textOf(data)}`);
    } else {
      assertEquals(data, expected);
    }
  }
  assertEquals(
    [...new Set(calls.map(({ tool }) => tool))].sort(),
    handler.mcpTools.map(({ toolName }) => toolName!).sort(),
  );
}

function textOf(data: unknown): string {
  return typeof data === "string" ? data : JSON.stringify(data);
}
