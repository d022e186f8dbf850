/**
 * Splits the text of an event stream into the data of its events.
 *
 * Takes the text in pieces of any size and does work in proportion to them. Only
 * `data` fields count; comments and other fields are passed over.
 *
 * @see The "Server-sent events" section of the WHATWG HTML standard, for the format.
 */
export class EventSplitter {
  #line = "";
  #data: string | undefined;
  #afterReturn = false;

  /** Characters of the event and the line that have begun and not ended. */
  get pendingLength(): number {
    return this.#line.length + (this.#data?.length ?? 0);
  }

  /** The data of the events that this piece completes, in order. */
  push(text: string): readonly string[] {
    if (text === "") return [];
    const events: string[] = [];
    // CR LF is one line end, also when it was cut in two.
    let from = this.#afterReturn && text.startsWith("\n") ? 1 : 0;
    this.#afterReturn = text.endsWith("\r");
    let feed = text.indexOf("\n", from);
    let back = text.indexOf("\r", from);
    while (feed >= 0 || back >= 0) {
      const end = back < 0 || (feed >= 0 && feed < back) ? feed : back;
      this.#endLine(text.slice(from, end), events);
      from = end + (end === back && feed === end + 1 ? 2 : 1);
      if (back >= 0 && back < from) back = text.indexOf("\r", from);
      if (feed >= 0 && feed < from) feed = text.indexOf("\n", from);
    }
    this.#line += text.slice(from);
    return events;
  }

  /** The data of a last event that its blank line never followed. */
  end(): readonly string[] {
    const events: string[] = [];
    if (this.#line !== "") this.#endLine("", events);
    this.#endLine("", events);
    return events;
  }

  #endLine(rest: string, events: string[]): void {
    const line = this.#line === "" ? rest : this.#line + rest;
    this.#line = "";
    if (line === "") {
      if (this.#data !== undefined) events.push(this.#data);
      this.#data = undefined;
      return;
    }
    if (!line.startsWith("data:") && line !== "data") return;
    const value = line.slice(line[5] === " " ? 6 : 5);
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
  }
}
