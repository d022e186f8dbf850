import {
  type ContentPart,
  contentText,
  type TaskInput,
} from "../messages/content.ts";
import type { AgentMessage } from "../messages/message.ts";
import { A2ARefusal } from "./errors.ts";
import { type A2APart, textPart } from "./wire.ts";

const dataUrl = /^data:([^;,]*);base64,(.*)$/s;

/**
 * The parts of a request: one text for each context message, then the task.
 *
 * @throws {TypeError} The task has a part that the protocol cannot carry.
 */
export function toParts(
  contextMessages: readonly AgentMessage[],
  task: TaskInput,
): A2APart[] {
  return [
    ...contextMessages.map(({ content }) =>
      textPart(contentText(content ?? ""))
    ),
    ...(typeof task === "string" ? [textPart(task)] : task.map(toPart)),
  ];
}

/**
 * The task that the parts of a message ask for.
 *
 * @returns A text if all parts are texts, else content parts.
 * @throws {A2ARefusal} A part that no model message can hold, or nothing at all.
 */
export function toTask(parts: readonly A2APart[] = []): TaskInput {
  const content = parts.map(toContent);
  const text = contentText(content);
  const isText = content.every(({ type }) => type === "text");
  if (isText && text.trim() === "") {
    throw new A2ARefusal("invalid_params", "The message has no content");
  }
  return isText ? text : content;
}

function toPart(part: ContentPart): A2APart {
  switch (part.type) {
    case "text":
      return textPart(part.text);
    case "image_url":
      return fromUrl(part.image_url.url, "image/*");
    case "input_audio": {
      const { data, format } = part.input_audio;
      return { raw: data, mediaType: `audio/${format}` };
    }
    case "file": {
      const { file_data: data, filename } = part.file;
      if (data === undefined) break;
      return {
        ...fromUrl(data, "application/octet-stream"),
        ...(filename !== undefined && { filename }),
      };
    }
  }
  throw new TypeError(
    "A file that only its provider knows cannot be sent to a remote agent; pass its data",
  );
}

function fromUrl(url: string, otherwise: string): A2APart {
  const [, mediaType, raw] = dataUrl.exec(url) ?? [];
  if (raw === undefined) return { url, mediaType: otherwise };
  return { raw, mediaType: mediaType || otherwise };
}

function toContent(part: A2APart): ContentPart {
  const { text, data, url, raw, mediaType = "" } = part;
  if (text !== undefined) return { type: "text", text };
  if (data !== undefined) return { type: "text", text: JSON.stringify(data) };
  if (typeof raw === "string") return embedded(raw, part);
  if (typeof url === "string" && mediaType.startsWith("image/")) {
    return { type: "image_url", image_url: { url } };
  }
  throw new A2ARefusal(
    "content_type_not_supported",
    "The message has a part that this agent cannot read",
  );
}

function embedded(raw: string, part: A2APart): ContentPart {
  const { mediaType = "application/octet-stream", filename } = part;
  const [family, format] = mediaType.split("/");
  if (family === "audio" && format !== undefined) {
    return { type: "input_audio", input_audio: { data: raw, format } };
  }
  const url = `data:${mediaType};base64,${raw}`;
  if (family === "image") return { type: "image_url", image_url: { url } };
  return {
    type: "file",
    file: { file_data: url, ...(filename !== undefined && { filename }) },
  };
}
