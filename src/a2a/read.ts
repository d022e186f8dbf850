import { isJsonObject } from "../base/json.ts";
import {
  type A2AAgentCard,
  type A2AFrame,
  type A2AMessage,
  PHASE_OF_STATE,
} from "./wire.ts";

/** Members of what comes from outside are checked as far as they are read. */
type Unchecked = Record<string, unknown>;

/**
 * Checks a frame.
 *
 * @throws {TypeError} It is none; the message names the member, never its value.
 */
export function readFrame(value: unknown): A2AFrame {
  const frame = objectAt(value, "the answer");
  if (frame.task !== undefined) checkTask(frame.task);
  else if (frame.message !== undefined) readMessage(frame.message);
  else if (frame.statusUpdate !== undefined) {
    checkStatusUpdate(frame.statusUpdate);
  } else if (frame.artifactUpdate !== undefined) {
    checkArtifactUpdate(frame.artifactUpdate);
  } else throw new TypeError("the answer holds neither a task nor a message");
  return frame;
}

/** Checks a message. @throws {TypeError} It is none. */
export function readMessage(value: unknown): A2AMessage {
  const message = objectAt(value, "message");
  textAt(message, "messageId");
  if (message.role !== "ROLE_USER" && message.role !== "ROLE_AGENT") {
    throw new TypeError("role must be ROLE_USER or ROLE_AGENT");
  }
  optionalTextAt(message, "contextId");
  optionalTextAt(message, "taskId");
  checkParts(message.parts);
  return message as unknown as A2AMessage;
}

/** Checks a card as far as it is needed to reach the agent. @throws {TypeError} It is none. */
export function readCard(value: unknown): A2AAgentCard {
  const card = objectAt(value, "the card");
  textAt(card, "name");
  for (const each of listAt(card.supportedInterfaces, "supportedInterfaces")) {
    const place = objectAt(each, "an interface");
    textAt(place, "url");
    textAt(place, "protocolBinding");
  }
  return card as unknown as A2AAgentCard;
}

/** Checks an id among parameters. @throws {TypeError} There is none. */
export function readTaskId(params: unknown): string {
  return textAt(objectAt(params, "params"), "id");
}

/** Checks an object. @throws {TypeError} It is none. */
export function objectAt(value: unknown, name: string): Unchecked {
  if (isJsonObject(value)) return value;
  throw new TypeError(`${name} must be an object`);
}

function checkTask(value: unknown): void {
  const task = objectAt(value, "task");
  textAt(task, "id");
  textAt(task, "contextId");
  checkStatus(task.status);
  if (task.artifacts !== undefined) {
    listAt(task.artifacts, "artifacts").forEach(checkArtifact);
  }
}

function checkStatusUpdate(value: unknown): void {
  const update = objectAt(value, "statusUpdate");
  textAt(update, "taskId");
  checkStatus(update.status);
}

function checkArtifactUpdate(value: unknown): void {
  const update = objectAt(value, "artifactUpdate");
  textAt(update, "taskId");
  checkArtifact(update.artifact);
}

function checkStatus(value: unknown): void {
  const { state, message } = objectAt(value, "status");
  if (typeof state !== "string" || !Object.hasOwn(PHASE_OF_STATE, state)) {
    throw new TypeError("state must be the state of a task");
  }
  if (message !== undefined) readMessage(message);
}

function checkArtifact(value: unknown): void {
  const artifact = objectAt(value, "artifact");
  textAt(artifact, "artifactId");
  checkParts(artifact.parts);
}

function checkParts(value: unknown): void {
  // Writers of protocol buffers leave empty lists out.
  if (value === undefined) return;
  for (const part of listAt(value, "parts")) {
    optionalTextAt(objectAt(part, "a part"), "text");
  }
}

function listAt(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError(`${name} must be a list`);
}

function textAt(from: Unchecked, name: string): string {
  const value = from[name];
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(`${name} must be a text that is not empty`);
}

function optionalTextAt(from: Unchecked, name: string): void {
  const value = from[name];
  if (value === undefined || typeof value === "string") return;
  throw new TypeError(`${name} must be a text`);
}
