// EJAgent Core with the openai client as its transport.
import { OpenAIModelAdapter } from "@ejagent/core/openai";
import { createAgent } from "./common.mjs";

export { prepare, reload, toNative } from "./common.mjs";

export const info = {
  name: "ejagent-openai",
  label: "EJAgent Core, openai transport",
  packages: ["@ejagent/core", "openai"],
  runtimes: { node: 20, bun: true, deno: true },
  fake: false,
  persist: [],
};

export function create(o) {
  const model = new OpenAIModelAdapter({
    model: "bench",
    apiKey: "k",
    baseUrl: o.baseURL,
  });
  return createAgent(o, model);
}

export const minimal = `
import { Agent, defineTool } from "@ejagent/core";
import { OpenAIModelAdapter } from "@ejagent/core/openai";
const agent = new Agent({
  agentId: "bench",
  model: new OpenAIModelAdapter({ model: "bench", apiKey: "k", baseUrl: process.env.BENCH_BASE_URL }),
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
