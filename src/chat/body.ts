import { isFrozenTree } from "../base/freeze.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { OpenAIFunctionTool } from "../messages/tool.ts";
import type { ChatCompat } from "./compat.ts";
import {
  hasReplay,
  nineCharacterIds,
  toWireMessage,
  type WireStyle,
} from "./wire_message.ts";

const encoder = new TextEncoder();
const opening = encoder.encode('{"messages":[');
const firstBytes = 1024;
/** So many messages are written in one go; what is kept can be cut between such stretches. */
const stretchMessages = 64;

/**
 * Writes request bodies.
 *
 * A conversation grows at its end, so the bytes of its messages are kept and only
 * new messages are written. What was kept counts only for the very same frozen
 * message objects; whatever could have changed is written anew.
 */
export class BodyWriter {
  readonly #compat: ChatCompat;
  readonly #conversations = new WeakMap<AgentMessage, WrittenMessages>();
  readonly #tools = new WeakMap<OpenAIFunctionTool, string>();

  constructor(compat: ChatCompat) {
    this.#compat = compat;
  }

  /**
   * The bytes of one body.
   *
   * @param messages Oldest first.
   * @param tools May be empty; then the body has no `tools`.
   * @param members What else stands in the body.
   * @throws {TypeError} JSON cannot express one of them.
   */
  write(
    messages: readonly AgentMessage[],
    tools: readonly OpenAIFunctionTool[],
    members: Readonly<Record<string, unknown>>,
  ): Uint8Array<ArrayBuffer> {
    let tail = `],${wellFormed(jsonOf(members)).slice(1, -1)}`;
    if (tools.length > 0) {
      tail += `,"tools":[${tools.map((tool) => this.#tool(tool)).join(",")}]`;
    }
    return this.#writtenFor(messages[0]).append(messages, `${tail}}`);
  }

  // Conversations are told apart by their first message.
  #writtenFor(first: AgentMessage | undefined): WrittenMessages {
    if (first === undefined || !isImmutable(first)) {
      return new WrittenMessages(this.#compat);
    }
    let written = this.#conversations.get(first);
    if (written === undefined) {
      written = new WrittenMessages(this.#compat);
      this.#conversations.set(first, written);
    }
    return written;
  }

  #tool(tool: OpenAIFunctionTool): string {
    let json = this.#tools.get(tool);
    if (json === undefined) {
      json = wellFormed(JSON.stringify(tool));
      if (isImmutable(tool)) this.#tools.set(tool, json);
    }
    return json;
  }
}

function jsonOf(members: Readonly<Record<string, unknown>>): string {
  try {
    return JSON.stringify(members);
  } catch (cause) {
    const name = Object.keys(members).find((name) => !isJson(members[name]));
    const message = `The model option ${name} holds what JSON cannot express`;
    throw new TypeError(message, { cause });
  }
}

function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

/** A place between two kept messages. */
interface Cut {
  /** Number of messages in front of it. */
  readonly count: number;
  /** Number of bytes in front of it. */
  readonly length: number;
}

/** The beginning of a body with the messages of one conversation. */
class WrittenMessages {
  readonly #compat: ChatCompat;
  readonly #messages: AgentMessage[] = [];
  /** Behind which messages the bytes can be cut, in ascending order. */
  readonly #cuts: Cut[] = [];
  /** Indices of messages whose form depends on the last user message. */
  readonly #carriers: number[] = [];
  #style: WireStyle;
  #lastUser = -1;
  #bytes = new Uint8Array(firstBytes);

  constructor(compat: ChatCompat) {
    this.#compat = compat;
    this.#style = styleOf(compat);
    this.#bytes.set(opening);
  }

  /** A body of these messages and the tail; a copy that nobody else holds. */
  append(
    messages: readonly AgentMessage[],
    tail: string,
  ): Uint8Array<ArrayBuffer> {
    const lastUser = this.#compat.reasoningReplay
      ? lastUserIndex(messages)
      : -1;
    this.#keep(this.#unchanged(messages, lastUser));
    this.#lastUser = lastUser;

    const start = this.#messages.length;
    let end = start;
    while (end < messages.length && isImmutable(messages[end])) end++;
    this.#record(messages.slice(start, end));
    const rest = encoder.encode(this.#json(messages.slice(end), end) + tail);
    const body = new Uint8Array(this.#length + rest.length);
    body.set(this.#bytes.subarray(0, this.#length));
    body.set(rest, this.#length);
    return body;
  }

  get #length(): number {
    return this.#cuts.at(-1)?.length ?? opening.length;
  }

  /** How many of the first messages are written as they have to be written now. */
  #unchanged(messages: readonly AgentMessage[], lastUser: number): number {
    const limit = Math.min(this.#messages.length, messages.length);
    let count = 0;
    while (count < limit && this.#messages[count] === messages[count]) count++;
    const low = Math.min(lastUser, this.#lastUser);
    const high = Math.max(lastUser, this.#lastUser);
    const changed = this.#carriers.find((index) =>
      index > low && index <= high
    );
    return Math.min(count, changed ?? count);
  }

  #keep(count: number): void {
    if (count === this.#messages.length) return;
    // Ids are counted from the first message on, so a new count starts over.
    if (this.#compat.toolCallIds !== "as-is") count = 0;
    while ((this.#cuts.at(-1)?.count ?? 0) > count) this.#cuts.pop();
    const kept = this.#cuts.at(-1)?.count ?? 0;
    this.#messages.length = kept;
    while ((this.#carriers.at(-1) ?? -1) >= kept) this.#carriers.pop();
    if (kept === 0) this.#style = styleOf(this.#compat);
  }

  #json(messages: readonly AgentMessage[], start: number): string {
    if (messages.length === 0) return "";
    const wires = messages.map((message, index) =>
      toWireMessage(message, this.#style, start + index > this.#lastUser)
    );
    const list = wellFormed(JSON.stringify(wires)).slice(1, -1);
    return start === 0 ? list : `,${list}`;
  }

  #record(messages: readonly AgentMessage[]): void {
    const start = this.#messages.length;
    const stretches: { count: number; json: string }[] = [];
    for (let from = 0; from < messages.length; from += stretchMessages) {
      const stretch = messages.slice(from, from + stretchMessages);
      const json = this.#json(stretch, start + from);
      stretches.push({ count: start + from + stretch.length, json });
    }
    const units = stretches.reduce((sum, { json }) => sum + json.length, 0);
    this.#reserve(this.#length, units);
    for (const { count, json } of stretches) {
      this.#cuts.push({ count, length: this.#write(json, this.#length) });
    }
    for (const message of messages) {
      if (this.#compat.reasoningReplay && hasReplay(message)) {
        this.#carriers.push(this.#messages.length);
      }
      this.#messages.push(message);
    }
  }

  /** Writes the text behind the first `at` bytes. @returns Where it ends. */
  #write(text: string, at: number): number {
    this.#reserve(at, text.length);
    const { read, written } = encoder.encodeInto(
      text,
      this.#bytes.subarray(at),
    );
    if (read === text.length) return at + written;
    // Not ASCII: the rest takes up to three bytes for each unit.
    const rest = text.slice(read);
    this.#reserve(at + written, rest.length * 3);
    return at + written +
      encoder.encodeInto(rest, this.#bytes.subarray(at + written)).written;
  }

  #reserve(used: number, more: number): void {
    if (used + more <= this.#bytes.length) return;
    const larger = new Uint8Array(
      Math.max(used + more, Math.ceil(this.#bytes.length * 1.5)),
    );
    larger.set(this.#bytes.subarray(0, used));
    this.#bytes = larger;
  }
}

function styleOf(compat: ChatCompat): WireStyle {
  return {
    compat,
    callId: compat.toolCallIds === "as-is" ? (id) => id : nineCharacterIds(),
  };
}

function lastUserIndex(messages: readonly AgentMessage[]): number {
  let index = messages.length - 1;
  while (index >= 0 && messages[index]!.role !== "user") index--;
  return index;
}

function isImmutable(value: unknown): boolean {
  if (isFrozenTree(value)) return true;
  return Object.isFrozen(value) &&
    Object.values(value as object).every(isImmutable);
}

/**
 * Replaces halves of surrogate pairs, which have no form in UTF-8 and which
 * providers refuse as escapes.
 *
 * `JSON.stringify` writes exactly these as `\ud...`; a backslash of the text
 * itself is written as two and skipped as one escape.
 */
function wellFormed(json: string): string {
  if (!json.includes("\\ud")) return json;
  return json.replaceAll(
    /\\(?:ud[\da-f]{3}|.)/g,
    (escape) => escape.startsWith("\\ud") ? "\\ufffd" : escape,
  );
}
