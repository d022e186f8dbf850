import { EventSplitter } from "../base/sse.ts";
import { malformedAnswer, pageAnswer } from "./answer_errors.ts";
import type { Operation } from "./errors.ts";

/**
 * Cuts a response body that arrives in pieces into JSON texts.
 *
 * Most bodies are event streams with one text per event. Some servers ignore the
 * wish for a stream and send a single JSON document instead. The first character
 * tells which it is; content types lie.
 */
export class PayloadReader {
  readonly #operation: Operation;
  readonly #decoder = new TextDecoder();
  readonly #events = new EventSplitter();
  #form: "unknown" | "events" | "document" = "unknown";
  #document = "";
  #done = false;

  constructor(operation: Operation) {
    this.#operation = operation;
  }

  /** True once `[DONE]` was read; whatever follows it is nobody's business. */
  get done(): boolean {
    return this.#done;
  }

  /** True if the body is one JSON document. */
  get isDocument(): boolean {
    return this.#form === "document";
  }

  /** True as long as nothing but blank space was read. */
  get isEmpty(): boolean {
    return this.#form === "unknown";
  }

  /**
   * The texts that a piece completes, in order.
   *
   * @param bytes The next piece; undefined for the end of the body.
   * @throws {ModelProviderError} If the body is a web page.
   */
  push(bytes: Uint8Array | undefined): readonly string[] {
    if (bytes !== undefined) {
      return this.#take(this.#decoder.decode(bytes, { stream: true }));
    }
    const texts = this.#take(this.#decoder.decode());
    if (this.#form === "document") return [this.#document];
    return [...texts, ...this.#payloads(this.#events.end())];
  }

  #take(text: string): readonly string[] {
    if (this.#form === "unknown") {
      text = text.trimStart();
      if (text === "") return [];
      if (text.startsWith("<")) throw pageAnswer(this.#operation);
      this.#form = text.startsWith("{") ? "document" : "events";
    }
    if (this.#form === "events") return this.#payloads(this.#events.push(text));
    this.#document += text;
    return [];
  }

  #payloads(events: readonly string[]): readonly string[] {
    const payloads: string[] = [];
    for (const data of events) {
      if (this.#done) break;
      if (data.trimEnd() === "[DONE]") this.#done = true;
      else if (data !== "" && !data.startsWith(":")) payloads.push(data);
    }
    return payloads;
  }
}

/** Parses one JSON text. @throws {ModelProviderError} If it is none. */
export function parsePayload(text: string, operation: Operation): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw malformedAnswer(operation, error);
  }
}
