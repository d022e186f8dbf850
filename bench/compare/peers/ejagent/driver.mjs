// EJAgent Core with its own chat adapter over fetch.
import { ChatModelAdapter } from "@ejagent/core/chat";
import { createAgent } from "./common.mjs";

export { prepare, reload, toNative } from "./common.mjs";

export const info = {
  name: "ejagent",
  label: "EJAgent Core, fetch transport",
  packages: ["@ejagent/core"],
  runtimes: { node: 20, bun: true, deno: true },
  fake: true,
  persist: ["jsonl", "jsonl-fsync"],
};

export function create(o) {
  const model = new ChatModelAdapter({
    model: "bench",
    apiKey: "k",
    baseUrl: o.baseURL,
  });
  return createAgent(o, model);
}

export const minimal = `
import { Agent, defineTool } from "@ejagent/core";
import { ChatModelAdapter } from "@ejagent/core/chat";
const agent = new Agent({
  agentId: "bench",
  model: new ChatModelAdapter({ model: "bench", apiKey: "k", baseUrl: process.env.BENCH_BASE_URL }),
  systemPrompt: "hi",
  tools: [defineTool({
    name: "probe",
    description: "probe",
    parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    execute: ({ n }) => "ok " + n,
  })],
});
globalThis.__out = await agent.runText("go");
`;
