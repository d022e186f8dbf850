import { Agent } from "../../../src/agent/agent.ts";
import { ChatModelAdapter } from "../../../src/chat/adapter.ts";
import { createModelConfig } from "../../../src/chat/config.ts";
import { fetchTransport } from "../../../src/chat/transport.ts";
import { SessionHistoryProvider } from "../../../src/pipeline/session_history.ts";
import type { JournalTreeStorage } from "../../../src/session/tree_storage.ts";
import { modelServer } from "../../../src/testing/model_server.ts";
import { defineTool } from "../../../src/tools/define_tool.ts";
import { answerFromOutside } from "./provider.ts";

/** The session that moves from runtime to runtime. */
export const sessionId = "trip";

/** The agent of the measured Worker, on this runtime and on any branch of the session. */
export function supportAgent(
  storage: JournalTreeStorage,
  branchId = "main",
): Agent {
  const { fetch } = modelServer(answerFromOutside);
  const config = createModelConfig({
    model: "model",
    apiKey: "key",
    baseUrl: "http://provider.example/v1",
  });
  return new Agent({
    agentId: "support",
    model: new ChatModelAdapter(config, {
      transport: fetchTransport({ fetch }),
    }),
    tools: [defineTool({
      name: "find_order",
      parameters: {
        type: "object",
        properties: { number: { type: "integer" } },
        required: ["number"],
      },
      execute: ({ number }) => ({ number, status: "packed" }),
    })],
    history: new SessionHistoryProvider({ storage, sessionId, branchId }),
  });
}
