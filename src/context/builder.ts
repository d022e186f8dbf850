import { frozen, frozenCopy } from "../base/freeze.ts";
import { isPlainObject } from "../base/json.ts";
import { requireBoolean } from "../base/require.ts";
import { type AgentMessage, systemMessage } from "../messages/message.ts";
import type {
  OpenAIFunctionTool,
  ToolDefinitionView,
} from "../messages/tool.ts";
import type { ContextBuildResult, ContextRepairs } from "../model/adapter.ts";
import { rememberOrigin } from "../model/provider_data.ts";
import { Conversation } from "./conversation.ts";
import { isSelfContained, Projection, visibleForm } from "./projection.ts";
import { rememberGrowingPart } from "./token_sums.ts";

/** What a request holds beside the conversation; none of it enters the history. */
export interface ContextParts {
  /** Tools in the form of the function-calling API. @default {[]} */
  readonly tools?: readonly OpenAIFunctionTool[];
  /** The definitions behind `tools`, same order. @default {[]} */
  readonly toolDefinitions?: readonly ToolDefinitionView[];
  /** Index and instructions of skills; right after the leading system messages. @default {[]} */
  readonly skillMessages?: readonly AgentMessage[];
  /** Instructions of context providers; one system message after the skills. @default {null} */
  readonly instructions?: string | null;
  /** Messages of context providers; before the first message of the run. @default {[]} */
  readonly contextMessages?: readonly AgentMessage[];
  /**
   * Position in the conversation of the first message of the run; if omitted,
   * context messages go after the instructions.
   */
  readonly runStart?: number;
  /** Messages at the very end. @default {[]} */
  readonly transientMessages?: readonly AgentMessage[];
}

/** How an {@linkcode AgentContextBuilder} works. */
export interface ContextBuilderOptions {
  /** False sends tool exchanges as they stand in the history. @default {true} */
  readonly repair?: boolean | undefined;
}

/**
 * Builds the request of a turn out of a conversation and what belongs to the
 * turn alone.
 *
 * The order is: leading system messages, skills, instructions, earlier
 * conversation, context messages, this run, transient messages. A provider gets
 * the messages without internal keys and with complete tool exchanges. The
 * conversation is never changed, and lists that were handed out never change
 * later; the caller owns them.
 *
 * What a provider may see of a conversation is kept and extended, so a build
 * costs next to nothing per old message. A subclass that overrides
 * {@linkcode AgentContextBuilder.convertToLlmMessages} gives that up: its hook
 * decides about every message anew in each build.
 *
 * @example Hide the messages that the application marked
 * ```ts
 * import { AgentContextBuilder, type AgentMessage, userMessage } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * class Discreet extends AgentContextBuilder {
 *   override convertToLlmMessages(messages: readonly AgentMessage[]) {
 *     return messages.filter((message) => message._ejagent_private !== true);
 *   }
 * }
 *
 * const messages = [userMessage("a"), { ...userMessage("b"), _ejagent_private: true }];
 * equal(new Discreet().build({ messages }).llmMessages.length, 1);
 * ```
 */
export class AgentContextBuilder {
  readonly #repair: boolean;
  readonly #kept = new WeakMap<Conversation, KeptProjection>();
  readonly #visibleAdditions = new WeakMap<AgentMessage, AgentMessage>();
  #instructions: AgentMessage | undefined;

  /** Makes a builder. @throws {TypeError} `repair` is neither true nor false. */
  constructor(options: ContextBuilderOptions = {}) {
    this.#repair = requireBoolean("repair", options.repair ?? true);
  }

  /**
   * Chooses and changes what the provider gets; returns all messages by default.
   *
   * Called once for every build. Metadata is taken away and exchanges are
   * completed afterwards, whatever it returns.
   *
   * @param messages All messages with their metadata, oldest first; they are frozen.
   */
  convertToLlmMessages(
    messages: readonly AgentMessage[],
  ): readonly AgentMessage[] {
    return messages;
  }

  /**
   * Builds one request.
   *
   * @param state The conversation, or anything that holds its messages.
   * @param parts What this request holds beside the conversation.
   * @throws {TypeError} The hook returned no list of messages.
   */
  build(
    state: Conversation | { readonly messages: readonly AgentMessage[] },
    parts: ContextParts = {},
  ): ContextBuildResult {
    const conversation = state instanceof Conversation
      ? state
      : new Conversation(state.messages);
    const additions = this.#additionsOf(parts);
    const seams = seamsOf(conversation, parts.runStart);
    const agentMessages = weave(conversation, seams, additions);
    const sent = this.#canExtend(additions)
      ? this.#extend(conversation, seams, additions)
      : this.#projectAnew(agentMessages);
    return frozen({
      agentMessages,
      llmMessages: sent.messages,
      tools: parts.tools ?? [],
      toolDefinitions: parts.toolDefinitions ?? [],
      repairs: sent.repairs,
    });
  }

  #additionsOf(parts: ContextParts): Additions {
    const front = [
      ...parts.skillMessages ?? [],
      ...this.#instructionsOf(parts),
    ];
    const beforeRun = parts.contextMessages ?? [];
    const end = parts.transientMessages ?? [];
    return front.length + beforeRun.length + end.length === 0
      ? noAdditions
      : mapped({ front, beforeRun, end }, frozenCopy<AgentMessage>);
  }

  // The same text stays the same message, so that adapters may keep what they made of it.
  #instructionsOf({ instructions }: ContextParts): readonly AgentMessage[] {
    const text = instructions ?? "";
    if (text === "") return [];
    if (this.#instructions?.content !== text) {
      this.#instructions = systemMessage(text);
    }
    return [this.#instructions];
  }

  #canExtend({ front, beforeRun, end }: Additions): boolean {
    return this.convertToLlmMessages ===
        AgentContextBuilder.prototype.convertToLlmMessages &&
      [front, beforeRun, end].every((messages) =>
        messages.every(isSelfContained)
      );
  }

  #extend(
    conversation: Conversation,
    seams: Seams,
    additions: Additions,
  ): Sent {
    const projection = this.#projectionOf(conversation);
    const pending = projection.pending();
    const list = pending.length === 0
      ? projection.messages
      : [...projection.messages, ...pending];
    const visible = mapped(additions, (message) => this.#visible(message));
    const messages = weave(list, {
      // What leads is never left out and never added to.
      front: seams.front,
      run: projection.starts[seams.run] ?? list.length,
    }, visible);
    rememberGrowingPart(messages, {
      list: projection.messages,
      length: projection.messages.length,
      rest: [
        ...pending,
        ...visible.front,
        ...visible.beforeRun,
        ...visible.end,
      ],
    });
    return { messages, repairs: projection.repairs() };
  }

  #projectionOf(conversation: Conversation): Projection {
    const { generation } = conversation;
    let kept = this.#kept.get(conversation);
    if (kept?.generation !== generation) {
      kept = {
        generation,
        projection: new Projection({ repair: this.#repair }),
      };
      this.#kept.set(conversation, kept);
    }
    const { projection } = kept;
    for (const message of conversation.slice(projection.starts.length)) {
      projection.add(message);
    }
    return projection;
  }

  #visible(message: AgentMessage): AgentMessage {
    const known = this.#visibleAdditions.get(message);
    if (known !== undefined) return known;
    const visible = visibleForm(message);
    rememberOrigin(visible, message);
    this.#visibleAdditions.set(message, visible);
    return visible;
  }

  #projectAnew(agentMessages: readonly AgentMessage[]): Sent {
    const chosen: unknown = this.convertToLlmMessages([...agentMessages]);
    if (!Array.isArray(chosen) || !chosen.every(isPlainObject)) {
      throw new TypeError(
        "convertToLlmMessages() must return a list of messages",
      );
    }
    const projection = new Projection({ repair: this.#repair });
    for (const message of chosen) {
      projection.add(frozenCopy(message as unknown as AgentMessage));
    }
    return {
      messages: [...projection.messages, ...projection.pending()],
      repairs: projection.repairs(),
    };
  }
}

interface KeptProjection {
  readonly generation: number;
  readonly projection: Projection;
}

/** What a provider gets. */
interface Sent {
  readonly messages: readonly AgentMessage[];
  readonly repairs: ContextRepairs;
}

/** Where additions go, as positions in a list. */
interface Seams {
  readonly front: number;
  readonly run: number;
}

/** Messages that go into a list at its seams and at its end. */
interface Additions {
  readonly front: readonly AgentMessage[];
  readonly beforeRun: readonly AgentMessage[];
  readonly end: readonly AgentMessage[];
}

/** Most requests hold nothing beside the conversation. */
const noAdditions: Additions = { front: [], beforeRun: [], end: [] };

function mapped(
  additions: Additions,
  change: (message: AgentMessage) => AgentMessage,
): Additions {
  if (additions === noAdditions) return noAdditions;
  const { front, beforeRun, end } = additions;
  return {
    front: front.map(change),
    beforeRun: beforeRun.map(change),
    end: end.map(change),
  };
}

function seamsOf(
  conversation: Conversation,
  runStart: number | undefined,
): Seams {
  let front = 0;
  while (conversation.at(front)?.role === "system") front++;
  let run = Math.min(Math.max(front, runStart ?? front), conversation.length);
  // Nothing may come between a call and its results.
  while (run > front && conversation.at(run)?.role === "tool") run--;
  return { front, run };
}

// The lists are not frozen: they belong to the caller, and copying a frozen list is slow.
function weave(
  list: Pick<Conversation, "slice"> | readonly AgentMessage[],
  seams: Seams,
  { front, beforeRun, end }: Additions,
): AgentMessage[] {
  if (front.length + beforeRun.length === 0) {
    return end.length === 0 ? list.slice() : list.slice().concat(end);
  }
  return list.slice(0, seams.front).concat(
    front,
    list.slice(seams.front, seams.run),
    beforeRun,
    list.slice(seams.run),
    end,
  );
}
