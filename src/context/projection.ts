import { deepFreeze, frozen, setOwn } from "../base/freeze.ts";
import {
  type AgentMessage,
  type AssistantAgentMessage,
  isInternalKey,
  type ToolCallEntry,
  type ToolMessage,
} from "../messages/message.ts";
import type { ContextRepairs } from "../model/adapter.ts";
import { rememberOrigin } from "../model/provider_data.ts";
import { callsOf } from "./exchange.ts";
import { interruptedToolMessage } from "./interrupted.ts";
import { isWellFormed, wellFormed } from "./well_formed.ts";

/** A call that no tool message has answered so far. */
interface OpenCall {
  /** Id in the history. */
  readonly id: string;
  /** Id in the request. */
  readonly sentId: string;
  /** Name of the tool. */
  readonly name: string;
}

/** What a request is made of. */
export interface ProjectionOptions {
  /** False only takes away what a provider may not see. */
  readonly repair: boolean;
}

/**
 * What a provider may see of a list of messages that only grows.
 *
 * Internal keys are taken away. With repairs, every call is answered exactly
 * once right after its message: missing answers are made, tool messages
 * without a call and second answers are left out, and so are answers of the
 * model without text and calls; ids that an earlier message used are renamed in
 * the call and its answer alike, and names that no tool can have are spelt with
 * what is allowed. A message that needs none of this stands for itself. What was
 * projected once never changes.
 */
export class Projection {
  /** The messages so far; the answers that {@linkcode pending} makes come after them. */
  readonly messages: AgentMessage[] = [];
  /** For every message that was added, where in `messages` it begins. */
  readonly starts: number[] = [];
  readonly #repair: boolean;
  readonly #synthesised: string[] = [];
  #droppedCount = 0;
  #open: OpenCall[] = [];
  readonly #timesUsed = new Map<string, number>();

  constructor(options: ProjectionOptions) {
    this.#repair = options.repair;
  }

  /** Adds the next message of the history. */
  add(message: AgentMessage): void {
    if (this.#open.length > 0 && message.role !== "tool") this.#close();
    this.starts.push(this.messages.length);
    const projected = this.#project(message);
    if (projected === null) {
      this.#droppedCount++;
    } else {
      if (projected !== message) rememberOrigin(projected, message);
      this.messages.push(projected);
    }
  }

  /** Answers for the calls that would be open if the list ended here. */
  pending(): ToolMessage[] {
    return this.#open.map((call) =>
      interruptedToolMessage({ id: call.sentId, name: call.name })
    );
  }

  /** What was repaired if the list ended here. */
  repairs(): ContextRepairs {
    return frozen({
      synthesised: frozen([
        ...this.#synthesised,
        ...this.#open.map((call) => call.id),
      ]),
      dropped: this.#droppedCount,
    });
  }

  #close(): void {
    for (const answer of this.pending()) this.messages.push(answer);
    for (const call of this.#open) this.#synthesised.push(call.id);
    this.#open = [];
  }

  #project(message: AgentMessage): AgentMessage | null {
    const visible = visibleForm(message);
    if (!this.#repair) return visible;
    if (visible.role === "tool") return this.#answer(visible);
    if (visible.role === "assistant") return this.#ask(visible);
    return visible;
  }

  #answer(message: ToolMessage): ToolMessage | null {
    const index = this.#open.findIndex((call) =>
      call.id === message.tool_call_id
    );
    const [call] = index < 0 ? [] : this.#open.splice(index, 1);
    if (call === undefined) return null;
    if (call.sentId === call.id) return message;
    return deepFreeze({ ...message, tool_call_id: call.sentId });
  }

  #ask(message: AssistantAgentMessage): AssistantAgentMessage | null {
    if (message.tool_calls === undefined) {
      return isBlank(message.content) ? null : message;
    }
    const calls = callsOf(message);
    const sent = calls.map((call) => withAllowedName(this.#unused(call)));
    this.#open = calls.map((call, index) => ({
      id: call.id,
      sentId: sent[index]!.id,
      name: call.function.name,
    }));
    if (calls.length === 0) {
      return isBlank(message.content) ? null : withoutCalls(message);
    }
    const same = sent.length === message.tool_calls.length &&
      sent.every((call, index) => call === message.tool_calls![index]);
    return same ? message : deepFreeze({ ...message, tool_calls: sent });
  }

  #unused(call: ToolCallEntry): ToolCallEntry {
    let times = this.#timesUsed.get(call.id) ?? 0;
    if (times === 0) {
      this.#timesUsed.set(call.id, 1);
      return call;
    }
    let id: string;
    do id = `${call.id}_${++times}`; while (this.#timesUsed.has(id));
    this.#timesUsed.set(call.id, times).set(id, 1);
    return { ...call, id };
  }
}

/** True for messages that can stand anywhere without changing what is said of the others. */
export function isSelfContained(message: AgentMessage): boolean {
  if (message.role === "tool") return false;
  if (message.role !== "assistant") return true;
  return message.tool_calls === undefined && !isBlank(message.content);
}

/** A message without internal keys and lone surrogates; the message itself if it has none. */
export function visibleForm(message: AgentMessage): AgentMessage {
  const members = message as unknown as Record<string, unknown>;
  for (const key in members) {
    if (isInternalKey(key) || !isWellFormed(members[key])) {
      return visibleCopy(members);
    }
  }
  return message;
}

function visibleCopy(members: Record<string, unknown>): AgentMessage {
  const visible: Record<string, unknown> = {};
  for (const key in members) {
    if (isInternalKey(key)) continue;
    setOwn(visible, key, wellFormed(members[key]));
  }
  return deepFreeze(visible as unknown as AgentMessage);
}

function withoutCalls(message: AssistantAgentMessage): AssistantAgentMessage {
  const { tool_calls: _, ...rest } = message;
  return deepFreeze(rest);
}

/** Models invent names, and providers refuse what their rules do not allow. */
function withAllowedName(call: ToolCallEntry): ToolCallEntry {
  const { name } = call.function;
  const allowed = name.replace(/[^\w-]/g, "_").slice(0, 64) || "_";
  if (allowed === name) return call;
  return { ...call, function: { ...call.function, name: allowed } };
}

function isBlank(content: unknown): boolean {
  if (content === null || content === undefined) return true;
  if (typeof content === "string") return content.trim() === "";
  return Array.isArray(content) &&
    content.every((part) => part?.type === "text" && isBlank(part.text));
}
