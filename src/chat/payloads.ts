import { EventSplitter } from "../base/sse.ts";
import {
  incompleteAnswer,
  malformedAnswer,
  strangeAnswer,
} from "./answer_errors.ts";
import type { Operation } from "./errors.ts";
import { ObjectScanner } from "./object_scanner.ts";

const eventFields = ["data", "event", "id", "retry", ":"];

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
  #head = "";
  #eventCount = 0;
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
   * @throws {ModelProviderError} If the body is a web page or plain text.
   */
  push(bytes: Uint8Array | undefined): readonly string[] {
    if (bytes !== undefined) {
      return this.#take(this.#decoder.decode(bytes, { stream: true }));
    }
    const texts = this.#take(this.#decoder.decode());
    if (this.#form === "document") return [this.#document];
    const rest = this.#payloads(this.#events.end());
    if (this.#isPlainText) throw strangeAnswer(this.#operation, "plain text");
    return [...texts, ...rest];
  }

  // An event stream may break off within its very first word.
  get #isPlainText(): boolean {
    const head = this.#head;
    return this.#form === "events" && this.#eventCount === 0 &&
      !eventFields.some((field) =>
        head.startsWith(field) || field.startsWith(head)
      );
  }

  #take(text: string): readonly string[] {
    if (this.#form === "unknown") {
      text = text.trimStart();
      if (text === "") return [];
      if (text.startsWith("<")) {
        throw strangeAnswer(this.#operation, "a web page");
      }
      this.#form = text.startsWith("{") ? "document" : "events";
    }
    if (this.#form === "events") {
      if (this.#head.length < 5) this.#head += text.slice(0, 5);
      return this.#payloads(this.#events.push(text));
    }
    this.#document += text;
    return [];
  }

  #payloads(events: readonly string[]): readonly string[] {
    const payloads: string[] = [];
    this.#eventCount += events.length;
    for (const data of events) {
      if (this.#done) break;
      if (data.startsWith("{")) {
        payloads.push(data);
        continue;
      }
      const text = data.trim();
      if (text === "[DONE]") this.#done = true;
      else if (!keepAlive.test(text)) payloads.push(text);
    }
    return payloads;
  }
}

const keepAlive = /^(:|ping$|$)/i;

/**
 * Parses one JSON text.
 *
 * @param isLast True for what stood at the end of the body, which may have broken off within it.
 * @throws {ModelProviderError} If it is none.
 */
export function parsePayload(
  text: string,
  operation: Operation,
  isLast: boolean,
): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw isLast && isBeginning(text)
      ? incompleteAnswer(operation, false)
      : malformedAnswer(operation, text, error);
  }
}

function isBeginning(text: string): boolean {
  const scanner = new ObjectScanner();
  scanner.push(text);
  return scanner.isOpen || "[DONE]".startsWith(text);
}
