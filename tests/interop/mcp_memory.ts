import { stdioTransport } from "../../adapters/node/mcp_stdio.ts";
import { McpToolError, McpToolHandler } from "../../src/mcp/mod.ts";
import { inDirectory } from "../faults/processes.ts";
import { assertEquals, assertRejects } from "../support/assert.ts";
import { callEveryTool, type ExpectedCall } from "./mcp_every_tool.ts";
import { npmServer } from "./mcp_servers.ts";

/** A graph that one process of the memory server writes and another one reads. */
export async function useMemory(): Promise<void> {
  await inDirectory(async (directory) => {
    const file = `${directory}/memory.jsonl`;
    await withMemory(file, async (handler) => {
      await callEveryTool(handler, calls);
      await assertRejects(
        () =>
          handler.dispatch("memory__add_observations", {
            observations: [{ entityName: "Nobody", contents: ["sleeps"] }],
          }),
        McpToolError,
        "Entity with name Nobody not found",
      );
    });
    await withMemory(file, async (handler) => {
      const { data } = await handler.dispatch("memory__read_graph", {});
      assertEquals(data, remembered);
    });
  });
}

async function withMemory(
  file: string,
  use: (handler: McpToolHandler) => Promise<void>,
): Promise<void> {
  const env = { MEMORY_FILE_PATH: file };
  const handler = new McpToolHandler({
    servers: { memory: { ...npmServer("server-memory"), env, required: true } },
    stdio: stdioTransport,
  });
  await handler.startup();
  try {
    await use(handler);
  } finally {
    await handler.shutdown();
  }
}

const ada = { name: "Ada", entityType: "person", observations: ["writes"] };
const engine = { name: "Engine", entityType: "machine", observations: [] };
const programs = { from: "Ada", to: "Engine", relationType: "programs" };
const admires = { from: "Ada", to: "Engine", relationType: "admires" };
const countingAda = { ...ada, observations: ["writes", "counts"] };

const remembered = {
  entities: [{ ...ada, observations: ["counts"] }, engine],
  relations: [programs],
};

const calls: readonly ExpectedCall[] = [
  {
    tool: "create_entities",
    arguments: {
      entities: [ada, engine, { ...engine, name: "Loom" }],
    },
    data: { entities: [ada, engine, { ...engine, name: "Loom" }] },
  },
  {
    tool: "create_relations",
    arguments: { relations: [programs, admires] },
    data: { relations: [programs, admires] },
  },
  {
    tool: "add_observations",
    arguments: {
      observations: [{ entityName: "Ada", contents: ["writes", "counts"] }],
    },
    data: { results: [{ entityName: "Ada", addedObservations: ["counts"] }] },
  },
  {
    tool: "search_nodes",
    arguments: { query: "COUNTS" },
    data: { entities: [countingAda], relations: [programs, admires] },
  },
  {
    tool: "open_nodes",
    arguments: { names: ["Loom"] },
    data: { entities: [{ ...engine, name: "Loom" }], relations: [] },
  },
  {
    tool: "delete_observations",
    arguments: {
      deletions: [{ entityName: "Ada", observations: ["writes"] }],
    },
    data: { success: true, message: "Observations deleted successfully" },
  },
  {
    tool: "delete_relations",
    arguments: { relations: [admires] },
    data: { success: true, message: "Relations deleted successfully" },
  },
  {
    tool: "delete_entities",
    arguments: { entityNames: ["Loom"] },
    data: { success: true, message: "Entities deleted successfully" },
  },
  { tool: "read_graph", data: remembered },
];
