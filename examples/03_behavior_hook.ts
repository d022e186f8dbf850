/**
 * A behavior hook: it looks at every turn, stops the run when somebody should
 * have a look, and the run goes on once that has happened.
 *
 *     deno task examples 03
 *
 * @module
 */

import {
  Agent,
  type BehaviorHook,
  behaviorStop,
  defineTool,
} from "@ejagent/core";
import { calls, text } from "@ejagent/core/testing";
import { exampleModel } from "./support/provider.ts";

let paidEuros = 0;
let limitEuros = 500;

const payInvoice = defineTool({
  name: "pay_invoice",
  description: "Pays one invoice.",
  parameters: {
    type: "object",
    properties: {
      number: { type: "string" },
      euros: { type: "number", description: "Amount to pay" },
    },
    required: ["number", "euros"],
    additionalProperties: false,
  },
  execute({ number, euros }) {
    paidEuros += euros;
    console.log(`paid ${euros} euros for invoice ${number}`);
    return { number, paid: true };
  },
});

// Asked between two turns, so every call of a turn has its result by then.
const spendingGuard: BehaviorHook = {
  name: "spending guard",
  afterTurn() {
    if (paidEuros <= limitEuros) return;
    return behaviorStop(`${paidEuros} euros are paid; may I go on?`);
  },
};

const provider = await exampleModel([
  calls([{ name: "pay_invoice", arguments: { number: "A-17", euros: 180 } }]),
  calls([{ name: "pay_invoice", arguments: { number: "A-18", euros: 440 } }]),
  calls([{ name: "pay_invoice", arguments: { number: "A-19", euros: 95 } }]),
  text("All three invoices are paid."),
]);
console.log(provider.describe);

const agent = new Agent({
  agentId: "clerk",
  model: provider.model,
  systemPrompt: "You pay invoices, one after the other.",
  tools: [payInvoice],
  behaviorHooks: [spendingGuard],
});

let result = await agent.run(
  "Pay A-17 (180 euros), A-18 (440 euros) and A-19 (95 euros).",
);
while (result.stopReason === "behavior_stop") {
  console.log(
    `${result.stopReason} after turn ${result.turns}: ${result.output}`,
  );
  limitEuros += 500;
  console.log(`go on, up to ${limitEuros} euros`);
  result = await agent.continueRun();
}
console.log(result.output ?? result.error);

await agent.shutdown();
await provider.close();
