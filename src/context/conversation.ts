import { frozenCopy, frozenList } from "../base/freeze.ts";
import { requireInteger } from "../base/require.ts";
import type { AgentMessage } from "../messages/message.ts";

/**
 * The messages of one agent, oldest first; only the agent changes them.
 *
 * Messages are frozen and shared, never copied twice. Whoever keeps something
 * derived from them remembers `generation` and `length`: within a generation
 * messages are only added at the end.
 *
 * @example A snapshot does not change
 * ```ts
 * import { Conversation, userMessage } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * const conversation = new Conversation([userMessage("Hello")]);
 * const { messages } = conversation;
 * conversation.append(userMessage("Are you there?"));
 * equal(messages.length, 1);
 * equal(conversation.length, 2);
 * ```
 */
export class Conversation {
  #messages: AgentMessage[] = [];
  #snapshot: readonly AgentMessage[] | undefined;
  #generation = 0;
  #systemCount = 0;

  /**
   * Takes over messages.
   *
   * @param messages What it starts with, oldest first; not yet frozen ones are copied.
   * @param systemCount How many of them, from the start, the agent made for itself.
   */
  constructor(messages: readonly AgentMessage[] = [], systemCount = 0) {
    this.#set(messages, systemCount);
  }

  /** Number of messages. */
  get length(): number {
    return this.#messages.length;
  }

  /** Counts the replacements; the same number means that messages were at most added. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Number of messages at the start that the agent made for itself, such as its
   * prompt. They are not part of what a session stores.
   */
  get systemCount(): number {
    return this.#systemCount;
  }

  /** A frozen snapshot; the same array until the next change. */
  get messages(): readonly AgentMessage[] {
    this.#snapshot ??= frozenList(this.#messages);
    return this.#snapshot;
  }

  /** The message at a position, from 0; negative positions count from the end. */
  at(index: number): AgentMessage | undefined {
    return this.#messages.at(index);
  }

  /** A new array of the messages from `start` to before `end`; the caller owns it. */
  slice(start?: number, end?: number): AgentMessage[] {
    return this.#messages.slice(start, end);
  }

  /** Adds a message at the end. */
  append(message: AgentMessage): void {
    this.#messages.push(frozenCopy(message));
    this.#snapshot = undefined;
  }

  /**
   * Puts other messages in the place of all and begins a new generation.
   *
   * @param messages What is held from now on, oldest first.
   * @param systemCount How many of them the agent made for itself; as before if omitted.
   * @throws {RangeError} More of the agent's own messages than messages.
   */
  replace(
    messages: readonly AgentMessage[],
    systemCount: number = this.#systemCount,
  ): void {
    this.#set(messages, systemCount);
    this.#generation++;
  }

  #set(messages: readonly AgentMessage[], systemCount: number): void {
    if (requireInteger("systemCount", systemCount, 0) > messages.length) {
      throw new RangeError(
        "systemCount must not exceed the number of messages",
      );
    }
    this.#messages = messages.map(frozenCopy<AgentMessage>);
    this.#snapshot = undefined;
    this.#systemCount = systemCount;
  }
}
