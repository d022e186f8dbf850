/**
 * A tool of one's own: the model asks for it, the agent runs it, the model reads
 * the result and answers.
 *
 *     deno task examples 02
 *
 * @module
 */

import { Agent, defineTool } from "@ejagent/core";
import { calls, text } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";

const stock: Readonly<Record<string, number>> = { apples: 12, pears: 0 };

const inStock = defineTool({
  name: "in_stock",
  description: "Tells how many pieces of a product are in stock.",
  parameters: {
    type: "object",
    properties: {
      product: { type: "string", description: "Plural, lower case" },
    },
    required: ["product"],
    additionalProperties: false,
  },
  effect: "read_only",
  execute({ product }) {
    const count = stock[product];
    // What is thrown becomes an error result; the model reads it and goes on.
    if (count === undefined) throw new Error(`There are no ${product} here`);
    return { product, count };
  },
});

const provider = await exampleModel([
  calls([{ name: "in_stock", arguments: { product: "apples" } }]),
  text("There are 12 apples left."),
]);
console.log(provider.describe);

const agent = new Agent({
  agentId: "shopkeeper",
  model: provider.model,
  systemPrompt: "You keep a shop. Look up what you are asked about.",
  tools: [inStock],
});

const result = await agent.run("How many apples are left?");
console.log(result.output ?? result.error);
console.log(`turns: ${result.turns}, stop reason: ${result.stopReason}`);

await agent.shutdown();
await provider.close();
