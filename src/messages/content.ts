import { frozenCopy } from "../base/freeze.ts";
import { isJsonObject } from "../base/json.ts";

/** Text, as in OpenAI chat messages. */
export interface TextPart {
  /** Tells the parts apart; the name is the provider's. */
  readonly type: "text";
  /** The text. */
  readonly text: string;
}

/** An image by address or data URL. */
export interface ImagePart {
  /** Tells the parts apart. */
  readonly type: "image_url";
  /** `url`: an https or data URL; `detail`: how closely the model looks. */
  readonly image_url: {
    readonly url: string;
    readonly detail?: "auto" | "low" | "high";
  };
}

/** Recorded sound. */
export interface AudioPart {
  /** Tells the parts apart. */
  readonly type: "input_audio";
  /** `data`: base64; `format`: for example `"wav"`. */
  readonly input_audio: { readonly data: string; readonly format: string };
}

/** A document, inline or by the id that the provider gave it. */
export interface FilePart {
  /** Tells the parts apart. */
  readonly type: "file";
  /** `file_data`: data URL; or `file_id`. */
  readonly file: {
    readonly file_data?: string;
    readonly file_id?: string;
    readonly filename?: string;
  };
}

/** One piece of a user message. */
export type ContentPart = TextPart | ImagePart | AudioPart | FilePart;

/** What a run is asked to do: a text, or parts in reading order. */
export type TaskInput = string | readonly ContentPart[];

const partTypes: Readonly<Record<ContentPart["type"], true>> = {
  text: true,
  image_url: true,
  input_audio: true,
  file: true,
};

/**
 * Checks a task and detaches it from the caller.
 *
 * @returns The text as it is, or a frozen copy of the parts.
 * @throws {TypeError} Neither a text nor a list of known parts.
 * @throws {RangeError} Blank: no text and no other part.
 */
export function requireTask(task: unknown): TaskInput {
  if (typeof task === "string") {
    if (task.trim() === "") throw new RangeError("The task must not be blank");
    return task;
  }
  if (!Array.isArray(task)) {
    throw new TypeError("The task must be a string or a list of content parts");
  }
  for (const part of task) {
    if (!isJsonObject(part) || !Object.hasOwn(partTypes, String(part.type))) {
      throw new TypeError(
        "Every content part must have the type text, image_url, input_audio or file",
      );
    }
    if (part.type === "text" && typeof part.text !== "string") {
      throw new TypeError("A text part must carry its text as a string");
    }
  }
  const parts = task as readonly ContentPart[];
  if (parts.every((part) => part.type === "text" && part.text.trim() === "")) {
    throw new RangeError("The task must not be blank");
  }
  return frozenCopy(parts);
}

/** The text of a task or message content: its text parts joined by a newline. */
export function contentText(content: TaskInput): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => part.type === "text" ? [part.text] : [])
    .join("\n");
}
