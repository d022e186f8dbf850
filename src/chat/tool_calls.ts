import { isJsonObject, type JsonObject } from "../base/json.ts";
import type { IdSource } from "../base/ports.ts";
import type { ModelToolCall } from "../messages/tool.ts";
import { ObjectScanner } from "./object_scanner.ts";

/** One call while it is being put together. */
interface OpenCall {
  readonly order: number;
  id: string;
  name: string;
  text: string;
  extra: JsonObject | null;
  /** True for a type that is no function; such a call is left out in the end. */
  foreign: boolean;
  scanner: ObjectScanner;
}

/** What a fragment says, with everything empty or of a wrong type left out. */
interface Fragment {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/** The calls of an answer and the extra data of each, in the same order. */
export interface AssembledCalls {
  readonly calls: readonly ModelToolCall[];
  readonly extras: readonly (JsonObject | null)[];
}

/**
 * Puts tool calls together out of their fragments.
 *
 * Servers differ in how they say which call a fragment belongs to, what they
 * repeat and what they leave out. Broken arguments stay as they are; only the
 * tool runtime judges them.
 */
export class ToolCallAssembler {
  readonly #calls: OpenCall[] = [];
  readonly #byIndex = new Map<number, OpenCall>();
  readonly #byPosition: OpenCall[] = [];
  #legacy: OpenCall | undefined;

  /** Takes in `tool_calls` of a delta. */
  push(entries: unknown): void {
    if (!Array.isArray(entries)) return;
    for (const [position, entry] of entries.entries()) {
      if (isJsonObject(entry)) {
        this.#add(entry, entries.length > 1 ? position : undefined);
      }
    }
  }

  /** Takes in `function_call` of a delta, which old servers send instead. */
  pushLegacy(call: unknown): void {
    // Servers that send both forms mean the same call.
    if (this.#calls.some((open) => open !== this.#legacy)) return;
    if (isJsonObject(call)) {
      this.#legacy = this.#add({ index: 0, function: call }, undefined);
    }
  }

  /**
   * The calls in the order of their index.
   *
   * Entries without name and arguments are dropped. Missing and repeated ids are
   * replaced by generated ones.
   *
   * @returns Undefined if a call has no name.
   */
  finish(ids: IdSource): AssembledCalls | undefined {
    const open = this.#calls
      .filter((call) =>
        !call.foreign && (call.name !== "" || call.text.trim() !== "")
      )
      .sort((left, right) => left.order - right.order);
    if (open.some((call) => call.name === "")) return undefined;
    const taken = new Set<string>();
    const calls = open.map((call) => {
      const id = call.id === "" || taken.has(call.id)
        ? `call_${ids.next()}`
        : call.id;
      taken.add(id);
      const text = call.text.trim() === "" ? "{}" : call.text;
      return { id, name: call.name, arguments: text };
    });
    return { calls, extras: open.map((call) => call.extra) };
  }

  /** @param position Place among several entries of one delta. */
  #add(entry: Record<string, unknown>, position: number | undefined): OpenCall {
    const fragment = readFragment(entry);
    const present = this.#presentCall(fragment, position);
    const call = present === undefined || opensAnother(present, fragment)
      ? this.#open(fragment)
      : present;
    if (fragment.index !== undefined) this.#byIndex.set(fragment.index, call);
    else if (fragment.id === "" && position !== undefined) {
      this.#byPosition[position] = call;
    }

    if (call.id === "") call.id = fragment.id;
    if (typeof entry.type === "string" && entry.type !== "") {
      call.foreign = entry.type !== "function";
    }
    if (isJsonObject(entry.extra_content)) {
      call.extra = entry.extra_content as JsonObject;
    }
    addName(call, fragment.name);
    addText(call, fragment.text);
    return call;
  }

  #presentCall(
    { index, id, name }: Fragment,
    position: number | undefined,
  ): OpenCall | undefined {
    if (index !== undefined) return this.#byIndex.get(index);
    const last = this.#calls.at(-1);
    if (id !== "") {
      return this.#calls.findLast((call) => call.id === id) ?? last;
    }
    if (position === undefined) return last;
    // Several entries without index and id are calls of their own, told apart by position.
    return this.#byPosition[position] ??
      (position === 0 && name === "" ? last : undefined);
  }

  #open({ index }: Fragment): OpenCall {
    const call: OpenCall = {
      order: index ?? this.#calls.length,
      id: "",
      name: "",
      text: "",
      extra: null,
      foreign: false,
      scanner: new ObjectScanner(),
    };
    this.#calls.push(call);
    return call;
  }
}

function readFragment(entry: Record<string, unknown>): Fragment {
  const { id } = entry;
  // Some servers write the index as a text.
  const index = /^\d+$/.test(String(entry.index)) ? Number(entry.index) : -1;
  const called = isJsonObject(entry.function) ? entry.function : {};
  const text = called.arguments;
  return {
    index: index >= 0 ? index : undefined,
    id: typeof id === "string" ? id : "",
    name: typeof called.name === "string" ? called.name : "",
    text: typeof text === "object" && text !== null
      ? JSON.stringify(text)
      : typeof text === "string"
      ? text
      : "",
  };
}

/** True if a fragment for a place that holds a call begins the next one there. */
function opensAnother(call: OpenCall, fragment: Fragment): boolean {
  const { id, name, text } = fragment;
  if (id !== "" && id === call.id) return false;
  // Two ids and a name are enough; otherwise the call before must be whole, and not just repeated.
  const bothKnown = id !== "" && call.id !== "";
  if (bothKnown && name !== "") return true;
  const repeats = text === call.text && (name === "" || name === call.name);
  return isFinished(call) && !repeats &&
    (bothKnown || (name !== "" && text.trim() !== ""));
}

/** True if the arguments are one whole object; `{}` may still be a placeholder. */
function isFinished(call: OpenCall): boolean {
  return call.text !== "{}" && call.scanner.isWhole;
}

function addName(call: OpenCall, name: string): void {
  if (name === call.name || name === "") return;
  if (name.startsWith(call.name)) call.name = name;
  else if (!call.scanner.isWhole) call.name += name;
}

function addText(call: OpenCall, text: string): void {
  if (text === "") return;
  if (call.text === "{}") {
    call.text = "";
    call.scanner = new ObjectScanner();
  }
  if (
    text.length === call.text.length && call.scanner.isWhole &&
    text === call.text
  ) return;
  call.text += text;
  call.scanner.push(text);
}
