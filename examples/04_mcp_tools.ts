/**
 * The tools of an MCP server: a child process that reads and writes the files of one
 * folder, from the configuration file that other programs use as well.
 *
 *     deno task examples 04
 *
 * @module
 */

import { Agent } from "@ejagent/core";
import { McpToolHandler } from "@ejagent/core/mcp";
import { stdioTransport } from "@ejagent/core/mcp-stdio";
import { calls, text } from "@ejagent/core/testing";
import { platform } from "./support/platform.ts";
import { exampleModel } from "./support/provider.ts";

const provider = await exampleModel([
  calls([{
    name: "files__list_directory",
    arguments: { path: "release_notes" },
  }]),
  calls([{
    name: "files__read_text_file",
    arguments: { path: "release_notes/template.md", head: 1 },
  }]),
  text("The template begins with the version and the date of the release."),
]);
console.log(provider.describe);

const files = new McpToolHandler({
  config: await platform.loadMcpConfig("examples/mcp_config.json"),
  stdio: stdioTransport,
  // The server says which of its tools only read; these may run side by side.
  trustAnnotations: true,
});

const agent = new Agent({
  agentId: "clerk",
  model: provider.model,
  systemPrompt: "You answer questions about the files in examples/skills.",
  tools: [files],
});

await agent.startup();
const reading = files.toolDefinitions.filter(({ effect }) =>
  effect === "read_only"
);
console.log(
  `${files.toolNames.length} tools, ${reading.length} of them only read`,
);

const run = agent.stream(
  "What does the template of the release notes begin with?",
);
for await (const event of run) {
  if (event.kind === "tool_completed") {
    const [answer] = event.result.messages;
    console.log(`${event.toolCall.name}:\n${answer?.content}`);
  }
}
console.log((await run.finalResult()).output);

await agent.shutdown();
await provider.close();
