/**
 * The client that the conformance runner of the protocol watches: connects to the address
 * that it is given and calls every tool it finds there.
 */
import { argv } from "node:process";
import { McpToolHandler } from "../../src/mcp/mod.ts";

const handler = new McpToolHandler({
  servers: { judge: { url: argv.at(-1)!, required: true } },
  // Without content, so that the defaults of the form are all there is.
  onElicit: () => ({ action: "accept", content: {} }),
});
await handler.startup();
for (const name of handler.toolNames) {
  await handler.dispatch(
    name,
    name.endsWith("add_numbers") ? { a: 5, b: 3 } : {},
  );
}
await handler.shutdown();
