/**
 * Follows a JSON text that arrives in pieces and knows when it is one whole object.
 *
 * Looks at each character once, so that the question costs nothing however
 * finely the text is cut. It counts brackets and minds strings; it does not
 * validate what stands between.
 */
export class ObjectScanner {
  #depth = 0;
  #state: "before" | "within" | "string" | "escape" | "whole" | "beyond" =
    "before";

  /** True if exactly one object was read, with nothing but blank space around it. */
  get isWhole(): boolean {
    return this.#state === "whole";
  }

  /** True if an object has begun and not ended. */
  get isOpen(): boolean {
    return this.#depth > 0;
  }

  /** Reads on. */
  push(text: string): void {
    for (let index = 0; index < text.length; index++) {
      if (this.#state === "beyond") return;
      this.#read(text[index]!);
    }
  }

  #read(character: string): void {
    switch (this.#state) {
      case "before":
        if (character === "{") {
          this.#state = "within";
          this.#depth = 1;
        } else if (character.trim() !== "") this.#state = "beyond";
        break;
      case "within":
        if (character === '"') this.#state = "string";
        else if (character === "{" || character === "[") this.#depth++;
        else if (
          (character === "}" || character === "]") && --this.#depth === 0
        ) {
          this.#state = "whole";
        }
        break;
      case "string":
        if (character === '"') this.#state = "within";
        else if (character === "\\") this.#state = "escape";
        break;
      case "escape":
        this.#state = "string";
        break;
      case "whole":
        if (character.trim() !== "") this.#state = "beyond";
        break;
    }
  }
}
