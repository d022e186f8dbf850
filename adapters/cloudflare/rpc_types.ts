import type {
  AssistantAgentMessage,
  MessageMetadata,
  SystemMessage,
  ToolMessage,
  UserMessage,
} from "../../src/messages/message.ts";
import type { AgentRunResult, RunFailure } from "../../src/messages/result.ts";

/**
 * What a run came to, as it passes between objects: the cause of a failure stays
 * where it happened.
 */
export interface ObjectRunResult extends Omit<AgentRunResult, "failure"> {
  /** Facts about a failed run; null for any other. */
  readonly failure: Omit<RunFailure, "cause"> | null;
}

/**
 * A message, as it passes between objects. What the package itself keeps with
 * messages comes along, but is not for readers.
 */
export type ObjectMessage =
  | Omit<SystemMessage, keyof MessageMetadata>
  | Omit<UserMessage, keyof MessageMetadata>
  | Omit<AssistantAgentMessage, keyof MessageMetadata>
  | Omit<ToolMessage, keyof MessageMetadata>;
