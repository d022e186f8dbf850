/**
 * A harness that an operator can trust: arguments are validated, writing needs
 * an approval, every call is in the audit log, and a tool decides when the task
 * is done.
 *
 *     deno task examples 10
 *
 * @module
 */

import { stdin, stdout } from "node:process";
import { createInterface } from "node:readline/promises";
import {
  Agent,
  complete,
  formatToolCallPreview,
  MethodToolHandler,
  type Middleware,
  proceed,
  RuleBasedToolPolicy,
  type StepOutcome,
  type ToolApprovalDecision,
  type ToolApprovalRequest,
  ToolPolicyMiddleware,
} from "@ejagent/core";
import { calls } from "@ejagent/core/testing";
import { ToolSchemaValidationMiddleware } from "@ejagent/core/validation";
import { exampleModel } from "./support/provider.ts";

/** Tools with a rule between them: nothing is finished before it was inspected. */
class ProjectTools extends MethodToolHandler {
  #inspected = false;

  constructor() {
    super([
      {
        name: "inspect_project",
        description: "Lists the files of the project.",
        effect: "read_only",
      },
      {
        name: "finish",
        description: "Ends the task with a report.",
        parameters: {
          type: "object",
          properties: { report: { type: "string", minLength: 1 } },
          required: ["report"],
        },
      },
    ]);
  }

  /** Every run starts without an inspection. */
  override onTaskStart(): void {
    this.#inspected = false;
  }

  doInspectProject(): StepOutcome {
    this.#inspected = true;
    return proceed({ files: ["mod.ts", "README.md"] });
  }

  doFinish({ report }: { readonly report: string }): StepOutcome {
    if (!this.#inspected) {
      return proceed({
        status: "error",
        error: "inspect_project must be called before finish",
      });
    }
    return complete({ status: "finished", report });
  }
}

/** Writes down what was asked for and what came of it, never the arguments. */
const audit: Middleware = {
  name: "audit",
  async aroundTool(context, next) {
    const outcome = await next();
    console.log(`audit: ${context.toolName} -> ${outcome.control}`);
    return outcome;
  },
};

const policy = new RuleBasedToolPolicy([
  { ruleId: "reads", action: "allow", effects: ["read_only"] },
  { ruleId: "finish", action: "require_approval", maxCallsPerRun: 5 },
]);

const report = { report: "Two files, all well" };
const script = () => [
  calls([{ name: "finish", arguments: report }]),
  calls([{ name: "finish", arguments: {} }]),
  calls(["inspect_project"]),
  calls([{ name: "finish", arguments: report }]),
];
const provider = await exampleModel([...script(), ...script()]);
console.log(provider.describe);

const agent = new Agent({
  agentId: "inspector",
  model: provider.model,
  tools: [new ProjectTools()],
  // Validation first: wrong arguments cost no approval and no unit of a limit.
  middleware: [
    audit,
    new ToolSchemaValidationMiddleware(),
    new ToolPolicyMiddleware(policy, { approver: ask }),
  ],
  runtimePolicy: { requireExplicitFinish: true },
});

for (const task of ["Inspect the project", "Inspect it again"]) {
  const result = await agent.run(task);
  console.log(`${result.status} after ${result.turns} turns: ${result.output}`);
}

await agent.shutdown();
await provider.close();

/** Asks on the terminal; without one everything is approved. */
async function ask(
  request: ToolApprovalRequest,
): Promise<ToolApprovalDecision> {
  const preview = formatToolCallPreview(request.toolName, request.arguments);
  if (!stdin.isTTY) {
    console.log(`approved: ${preview.split("\n")[0]}`);
    return { approved: true };
  }
  const terminal = createInterface({ input: stdin, output: stdout });
  const answer = await terminal.question(`${preview}\nAllow it? [y/N] `);
  terminal.close();
  return { approved: answer.trim().toLowerCase() === "y" };
}
