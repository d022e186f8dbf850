import {
  requireBoolean,
  requireInteger,
  requireMember,
} from "../base/require.ts";

/**
 * Where a server departs from the OpenAI API.
 *
 * All members have defaults; a few well-known services bring their own.
 */
export interface ChatCompat {
  /**
   * Sends back what a thinking model needs of its own answers: the reasoning
   * until the next user message, signatures for good. On by default for
   * `api.deepseek.com` and `generativelanguage.googleapis.com`, else off.
   */
  readonly reasoningReplay: boolean;
  /**
   * Keeps reasoning text with the message for good, so that it is journaled and
   * sent back after later user messages too. Newer DeepSeek models demand that
   * for answers with tool calls. Off by default: the text then stays in memory.
   *
   * @default {false}
   */
  readonly journalReasoning: boolean;
  /** How the content of an answer without text is sent back. @default {"null"} */
  readonly emptyAssistantContent: "null" | "empty" | "omit";
  /**
   * The form of call ids in requests: as they are, or nine letters and digits,
   * which `api.mistral.ai` demands and gets by default.
   */
  readonly toolCallIds: "as-is" | "alnum9";
  /** Reads a `<think>` block at the very start of an answer as thinking. @default {false} */
  readonly thinkTags: boolean;
  /** Accepts a stream that ends with `[DONE]` but without a finish reason. @default {false} */
  readonly acceptMissingFinish: boolean;
  /** Reads a refusal with status 400 and no body as context overflow. @default {false} */
  readonly emptyBodyMeansOverflow: boolean;
  /**
   * Tokens of the model's window. Only used to notice servers that answer an
   * overflow as a success; no output limit is derived from it.
   */
  readonly contextWindow?: number;
}

/** What is known of a service by its host name. */
interface KnownService {
  /** Its name in the OpenTelemetry conventions. */
  readonly provider: string;
  readonly compat?: Partial<ChatCompat>;
}

const services: Readonly<Record<string, KnownService>> = {
  "api.openai.com": { provider: "openai" },
  "api.deepseek.com": {
    provider: "deepseek",
    compat: { reasoningReplay: true },
  },
  "generativelanguage.googleapis.com": {
    provider: "gcp.gemini",
    compat: { reasoningReplay: true },
  },
  "api.mistral.ai": {
    provider: "mistral_ai",
    compat: { toolCallIds: "alnum9" },
  },
  "api.groq.com": { provider: "groq" },
  "api.x.ai": { provider: "x_ai" },
};

/** The provider name of a host; servers nobody knows speak the API of `"openai"`. */
export function providerOf(hostname: string): string {
  return Object.hasOwn(services, hostname)
    ? services[hostname]!.provider
    : "openai";
}

/** Checks the wishes of a caller and fills in what the host or nobody asks for. */
export function completeCompat(
  hostname: string,
  wishes: Partial<ChatCompat>,
): ChatCompat {
  const known = Object.hasOwn(services, hostname)
    ? services[hostname]!.compat
    : undefined;
  const compat = { ...plain, ...known, ...wishes };
  return Object.freeze({
    reasoningReplay: requireBoolean("reasoningReplay", compat.reasoningReplay),
    journalReasoning: requireBoolean(
      "journalReasoning",
      compat.journalReasoning,
    ),
    emptyAssistantContent: requireMember(
      "emptyAssistantContent",
      compat.emptyAssistantContent,
      { null: true, empty: true, omit: true },
    ),
    toolCallIds: requireMember(
      "toolCallIds",
      compat.toolCallIds,
      { "as-is": true, alnum9: true },
    ),
    thinkTags: requireBoolean("thinkTags", compat.thinkTags),
    acceptMissingFinish: requireBoolean(
      "acceptMissingFinish",
      compat.acceptMissingFinish,
    ),
    emptyBodyMeansOverflow: requireBoolean(
      "emptyBodyMeansOverflow",
      compat.emptyBodyMeansOverflow,
    ),
    ...(compat.contextWindow !== undefined && {
      contextWindow: requireInteger("contextWindow", compat.contextWindow, 1),
    }),
  });
}

const plain: ChatCompat = {
  reasoningReplay: false,
  journalReasoning: false,
  emptyAssistantContent: "null",
  toolCallIds: "as-is",
  thinkTags: false,
  acceptMissingFinish: false,
  emptyBodyMeansOverflow: false,
};
