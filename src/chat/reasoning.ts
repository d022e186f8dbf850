import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";
import type { ChatCompat } from "./compat.ts";

/** Names under which providers send reasoning as text; the first one with text counts. */
const textFields = [
  "reasoning_content",
  "reasoning",
  "reasoning_text",
] as const;

/** Fields of an answer that may have to go back in the same place. */
export const RETURNED_FIELDS: readonly string[] = [
  ...textFields,
  "reasoning_details",
  "extra_content",
];

/** Where the `extra_content` of calls is kept: a list in the order of the calls. */
export const CALL_EXTRAS = "call_extras";

/** What goes back to the provider with later requests. */
export interface ReturnedData {
  /** For good. */
  readonly providerData?: JsonObject;
  /** Until the next user message, out of memory only. */
  readonly replay?: JsonObject;
}

/** Collects the reasoning of one answer and what the provider wants back of it. */
export class ReasoningCollector {
  readonly #details: Record<string, JsonValue>[] = [];
  #field: string | undefined;
  #text = "";
  #extra: JsonObject | undefined;

  /** Takes in one delta. @returns The text that observers see; empty if there is none. */
  push(delta: Record<string, unknown>): string {
    if (isJsonObject(delta.extra_content)) {
      this.#extra = delta.extra_content as JsonObject;
    }
    const details = this.#addDetails(delta.reasoning_details);
    const field = firstTextField(delta);
    if (field === undefined) {
      return details === "" ? thinkingParts(delta.content) : details;
    }
    // Providers that send the text under two names send the same text.
    this.#field ??= field;
    const text = delta[field] as string;
    this.#text += text;
    return text;
  }

  /** @param callExtras `extra_content` of each call, null where there is none. */
  returned(
    callExtras: readonly (JsonObject | null)[],
    compat: ChatCompat,
  ): ReturnedData {
    const opaque: JsonObject = {
      ...(this.#extra !== undefined && { extra_content: this.#extra }),
      ...(callExtras.some((extra) => extra !== null) &&
        { [CALL_EXTRAS]: callExtras }),
    };
    const readable: JsonObject = {
      ...(this.#field !== undefined && { [this.#field]: this.#text }),
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
    };
    if (compat.journalReasoning) {
      return optional({ ...opaque, ...readable }, {});
    }
    const encrypted = this.#details.filter((detail) =>
      readableText(detail) === ""
    );
    const kept = encrypted.length > 0
      ? { ...opaque, reasoning_details: encrypted }
      : opaque;
    return optional(kept, compat.reasoningReplay ? readable : {});
  }

  #addDetails(value: unknown): string {
    if (!Array.isArray(value)) return "";
    let text = "";
    for (const detail of value) {
      if (!isJsonObject(detail)) continue;
      text += readableText(detail);
      this.#addDetail(detail as Record<string, JsonValue>);
    }
    return text;
  }

  // Streams cut a text into one entry a token; going back, they are one entry again.
  #addDetail(detail: Record<string, JsonValue>): void {
    const last = this.#details.at(-1);
    const name = readableName(detail);
    const continues = last !== undefined && name !== undefined &&
      name === readableName(last) && last.type === detail.type &&
      last.index === detail.index;
    if (!continues) this.#details.push({ ...detail });
    else {Object.assign(last, detail, {
        [name]: `${last[name]}${detail[name]}`,
      });}
  }
}

function firstTextField(delta: Record<string, unknown>): string | undefined {
  for (const name of textFields) {
    if (typeof delta[name] === "string" && delta[name] !== "") return name;
  }
  return undefined;
}

function optional(providerData: JsonObject, replay: JsonObject): ReturnedData {
  return {
    ...(Object.keys(providerData).length > 0 && { providerData }),
    ...(Object.keys(replay).length > 0 && { replay }),
  };
}

function readableText(detail: Record<string, unknown>): string {
  const name = readableName(detail);
  return name === undefined ? "" : detail[name] as string;
}

function readableName(detail: Record<string, unknown>): string | undefined {
  return ["text", "summary"].find((name) => typeof detail[name] === "string");
}

/** The text of thinking parts in a content list. */
function thinkingParts(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return content.map((part) => {
    if (!isJsonObject(part) || part.type !== "thinking") return "";
    return typeof part.thinking === "string"
      ? part.thinking
      : textParts(part.thinking);
  }).join("");
}

/** The text of text parts in a content list. */
export function textParts(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return content.map((part) =>
    isJsonObject(part) && part.type === "text" && typeof part.text === "string"
      ? part.text
      : ""
  ).join("");
}
