import type { ModelDelta } from "../model/adapter.ts";

const opening = "<think>";
const closing = "</think>";

// Blank space before a tag is held back up to here; no model pads more.
const longestStart = 64;

/**
 * Takes a `<think>` block at the very start of a text out of it.
 *
 * Tags may be cut anywhere. What could be the beginning of a tag is held back
 * until the next piece decides; blank space around the block belongs to nobody.
 */
export class ThinkTagReader {
  #place: "before" | "inside" | "after" | "past" = "before";
  #held = "";

  /** Adds what this piece makes certain to `deltas`. */
  push(piece: string, deltas: ModelDelta[]): void {
    let text = this.#held + piece;
    this.#held = "";
    if (this.#place === "before") {
      const start = text.trimStart();
      if (!start.startsWith(opening)) {
        if (opening.startsWith(start) && text.length < longestStart) {
          this.#held = text;
        } else this.#passThrough(text, deltas);
        return;
      }
      this.#place = "inside";
      text = start.slice(opening.length);
    }
    if (this.#place === "inside") {
      const end = text.indexOf(closing);
      const certain = end < 0 ? text.length - overlap(text, closing) : end;
      if (certain > 0) {
        deltas.push({ kind: "thinking_delta", delta: text.slice(0, certain) });
      }
      if (end < 0) {
        this.#held = text.slice(certain);
        return;
      }
      this.#place = "after";
      text = text.slice(end + closing.length);
    }
    if (this.#place === "after") {
      text = text.trimStart();
      if (text === "") return;
    }
    this.#passThrough(text, deltas);
  }

  /** Adds what was held back to the end. */
  end(deltas: ModelDelta[]): void {
    if (this.#held === "") return;
    const kind = this.#place === "inside" ? "thinking_delta" : "text_delta";
    deltas.push({ kind, delta: this.#held });
    this.#held = "";
  }

  #passThrough(text: string, deltas: ModelDelta[]): void {
    this.#place = "past";
    deltas.push({ kind: "text_delta", delta: text });
  }
}

/** Length of the longest end of `text` that begins `tag`. */
function overlap(text: string, tag: string): number {
  for (
    let length = Math.min(text.length, tag.length - 1);
    length > 0;
    length--
  ) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}
