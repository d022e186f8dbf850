import { isJsonObject } from "../base/json.ts";
import { SummaryEntry } from "../context/summary.ts";
import type { AgentMessage } from "../messages/message.ts";
import { SessionSerializationError } from "./errors.ts";
import { isBlank } from "./ids.ts";

/** Reads an object. */
export function readObject(
  value: unknown,
  name: string,
): Record<string, unknown> {
  if (!isJsonObject(value)) throw wrong(name, "an object");
  return value;
}

/** Reads an array. */
export function readArray(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(name, "an array");
  return value;
}

/** Reads a text, which may be empty. */
export function readText(value: unknown, name: string): string {
  if (typeof value !== "string") throw wrong(name, "a string");
  return value;
}

/** Reads a text that must not be blank. */
export function readName(value: unknown, name: string): string {
  const text = readText(value, name);
  if (isBlank(text)) throw wrong(name, "a string that is not blank");
  return text;
}

/** Reads what may be null or absent. */
export function readOptional<T>(
  read: (value: unknown, name: string) => T,
  value: unknown,
  name: string,
): T | null {
  return value === null || value === undefined ? null : read(value, name);
}

/** Reads an integer of at least 0. */
export function readCount(value: unknown, name: string): number {
  if (!Number.isInteger(value)) throw wrong(name, "an integer");
  if (value as number < 0) throw wrong(name, "an integer of at least 0");
  return value as number;
}

/** Reads an integer of at least 1. */
export function readPositive(value: unknown, name: string): number {
  if (readCount(value, name) === 0) {
    throw wrong(name, "an integer of at least 1");
  }
  return value as number;
}

/** Reads a member of a union. */
export function readMember<T extends string>(
  value: unknown,
  name: string,
  members: Readonly<Record<T, unknown>>,
): T {
  if (typeof value !== "string" || !Object.hasOwn(members, value)) {
    throw wrong(name, `one of ${Object.keys(members).join(", ")}`);
  }
  return value as T;
}

/** Reads the version of a schema, of which there is only one. */
export function readVersion(
  value: unknown,
  name: string,
  expected: number,
): void {
  if (!Number.isInteger(value)) throw wrong(name, "an integer");
  if (value !== expected) {
    throw new SessionSerializationError(
      `unsupported ${name} ${value}; expected ${expected}`,
    );
  }
}

/** Reads a message; it may hold any JSON. */
export function readMessage(value: unknown, name: string): AgentMessage {
  return readObject(value, name) as unknown as AgentMessage;
}

/** Reads a list of messages. */
export function readMessages(
  value: unknown,
  name: string,
  min = 0,
): readonly AgentMessage[] {
  const messages = readArray(value, name);
  if (!messages.every(isJsonObject)) throw wrong(`${name}[]`, "an object");
  if (messages.length < min) {
    throw new SessionSerializationError(`${name} must not be empty`);
  }
  return messages as unknown as readonly AgentMessage[];
}

/** Reads a summary. */
export function readSummary(value: unknown, name: string): SummaryEntry {
  const summary = SummaryEntry.fromJson(value);
  if (summary !== null) return summary;
  throw new SessionSerializationError(`${name} must be a valid summary`);
}

function wrong(name: string, expected: string): SessionSerializationError {
  return new SessionSerializationError(`${name} must be ${expected}`);
}
