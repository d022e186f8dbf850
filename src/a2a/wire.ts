import type { JsonObject, JsonValue } from "../base/json.ts";

/** The protocol version that is spoken. */
export const A2A_VERSION = "1.0";

/** Where the card of an agent is found, below its origin. */
export const CARD_PATH = "/.well-known/agent-card.json";

/** How far a task is. */
export type A2ATaskState =
  | "TASK_STATE_SUBMITTED"
  | "TASK_STATE_WORKING"
  | "TASK_STATE_INPUT_REQUIRED"
  | "TASK_STATE_AUTH_REQUIRED"
  | "TASK_STATE_COMPLETED"
  | "TASK_STATE_FAILED"
  | "TASK_STATE_CANCELED"
  | "TASK_STATE_REJECTED";

/** What a state means for whoever waits for the task. */
export type A2ATaskPhase = "open" | "interrupted" | "terminal";

/** The phase of each state: an interrupted task waits for its client, a terminal one is over. */
export const PHASE_OF_STATE: Readonly<Record<A2ATaskState, A2ATaskPhase>> =
  Object.freeze({
    TASK_STATE_SUBMITTED: "open",
    TASK_STATE_WORKING: "open",
    TASK_STATE_INPUT_REQUIRED: "interrupted",
    TASK_STATE_AUTH_REQUIRED: "interrupted",
    TASK_STATE_COMPLETED: "terminal",
    TASK_STATE_FAILED: "terminal",
    TASK_STATE_CANCELED: "terminal",
    TASK_STATE_REJECTED: "terminal",
  });

/** A piece of a message or an artifact: exactly one of text, data, url and raw. */
export interface A2APart {
  /** A text. */
  readonly text?: string;
  /** Any JSON value. */
  readonly data?: JsonValue;
  /** Where the content is. */
  readonly url?: string;
  /** The content in base64. */
  readonly raw?: string;
  /** What the content is, for example `"text/plain"`. */
  readonly mediaType?: string;
  /** Name of a file. */
  readonly filename?: string;
}

/** What one side says. */
export interface A2AMessage {
  /** Made by the sender. */
  readonly messageId: string;
  /** Who speaks. */
  readonly role: "ROLE_USER" | "ROLE_AGENT";
  /** In reading order. */
  readonly parts: readonly A2APart[];
  /** The conversation. */
  readonly contextId?: string;
  /** The task that the message goes on with. */
  readonly taskId?: string;
  /** Earlier tasks that the message speaks of. */
  readonly referenceTaskIds?: readonly string[];
  /** Anything else. */
  readonly metadata?: JsonObject;
}

/** A state and what the agent says about it. */
export interface A2ATaskStatus {
  /** How far the task is. */
  readonly state: A2ATaskState;
  /** What the agent says. */
  readonly message?: A2AMessage;
  /** Since when, in ISO 8601. */
  readonly timestamp?: string;
}

/** Something that a task made. */
export interface A2AArtifact {
  /** Unique within the task. */
  readonly artifactId: string;
  /** In reading order. */
  readonly parts: readonly A2APart[];
  /** Shown to people. */
  readonly name?: string;
}

/** A unit of work. */
export interface A2ATask {
  /** Made by the agent. */
  readonly id: string;
  /** The conversation. */
  readonly contextId: string;
  /** How far it is. */
  readonly status: A2ATaskStatus;
  /** What it made so far. */
  readonly artifacts?: readonly A2AArtifact[];
}

/** A task went on. */
export interface A2AStatusUpdate {
  /** The task. */
  readonly taskId: string;
  /** Its conversation. */
  readonly contextId: string;
  /** How far it is now. */
  readonly status: A2ATaskStatus;
}

/** A task made something. */
export interface A2AArtifactUpdate {
  /** The task. */
  readonly taskId: string;
  /** Its conversation. */
  readonly contextId: string;
  /** The artifact, or the piece of it that is new. */
  readonly artifact: A2AArtifact;
  /** True if the parts follow those that were sent before. */
  readonly append?: boolean;
  /** True if no more follows. */
  readonly lastChunk?: boolean;
}

/** One frame of a stream, and the answer to a message; exactly one member is present. */
export interface A2AFrame {
  /** The whole task. */
  readonly task?: A2ATask;
  /** An answer that needs no task. */
  readonly message?: A2AMessage;
  /** The task went on. */
  readonly statusUpdate?: A2AStatusUpdate;
  /** The task made something. */
  readonly artifactUpdate?: A2AArtifactUpdate;
}

/** Something an agent can do, for people and catalogues. */
export interface A2ASkill {
  /** Unique within the card. */
  readonly id: string;
  /** Shown to people. */
  readonly name: string;
  /** What it does. */
  readonly description: string;
  /** Words to find it by. */
  readonly tags: readonly string[];
}

/** Where and how an agent can be reached. */
export interface A2AInterface {
  /** Address of the endpoint. */
  readonly url: string;
  /** `"JSONRPC"`, or a binding that is not spoken here. */
  readonly protocolBinding: string;
  /** Version of the protocol. */
  readonly protocolVersion: string;
}

/** What an agent says about itself. */
export interface A2AAgentCard {
  /** Shown to people. */
  readonly name: string;
  /** What the agent is for. */
  readonly description: string;
  /** Version of the agent. */
  readonly version: string;
  /** Where it can be reached, the preferred way first. */
  readonly supportedInterfaces: readonly A2AInterface[];
  /** What it can do beside answering. */
  readonly capabilities: {
    readonly streaming?: boolean;
    readonly pushNotifications?: boolean;
  };
  /** Media types that it reads. */
  readonly defaultInputModes: readonly string[];
  /** Media types that it writes. */
  readonly defaultOutputModes: readonly string[];
  /** What it can do. */
  readonly skills: readonly A2ASkill[];
}

/** The texts of parts, one after the other; parts that are no text are left out. */
export function textOfParts(parts: readonly A2APart[]): string {
  return parts.map((part) => part.text ?? "").join("");
}

/** A part that is a text. */
export function textPart(text: string): A2APart {
  return { text, mediaType: "text/plain" };
}
