import { isJsonObject } from "../base/json.ts";

type Members = Record<string, unknown>;

/** What a strict server lets pass beyond the rules of the chat completions API. */
export interface WireRuleOptions {
  /** Further keys of messages and calls, for example `"reasoning_content"`. */
  readonly extraKeys?: readonly string[] | undefined;
}

/**
 * Checks the body of a chat completions request as providers do, in fact a
 * little harder than the hardest of them.
 *
 * @returns Why the request is refused, with the place in front; null if it is fine.
 */
export function findRequestFault(
  body: unknown,
  options: WireRuleOptions = {},
): string | null {
  try {
    checkBody(body, options.extraKeys ?? []);
    return null;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

// Never leaves this file.
class Fault extends Error {
  constructor(place: string, problem: string) {
    super(`${place}: ${problem}`);
  }
}

function checkBody(body: unknown, extraKeys: readonly string[]): void {
  if (!isJsonObject(body)) throw new Fault("body", "must be a JSON object");
  if (!isText(body.model)) throw new Fault("model", "must name a model");
  checkMessages(body.messages, extraKeys);
  checkTools(body);
  if (body.stream_options !== undefined && body.stream !== true) {
    throw new Fault("stream_options", "is only allowed with stream: true");
  }
  checkSurrogates(body, "body");
}

const messageKeys: Readonly<Record<string, readonly string[]>> = {
  system: ["role", "content", "name"],
  developer: ["role", "content", "name"],
  user: ["role", "content", "name"],
  assistant: ["role", "content", "name", "tool_calls"],
  tool: ["role", "content", "tool_call_id"],
};

function checkMessages(messages: unknown, extraKeys: readonly string[]): void {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new Fault("messages", "must hold at least one message");
  }
  const everyId = new Set<string>();
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const place = `messages[${index}]`;
    if (!isJsonObject(message)) throw new Fault(place, "must be an object");
    const keys = messageKeys[String(message.role)];
    if (keys === undefined) {
      throw new Fault(place, `has the unknown role ${quote(message.role)}`);
    }
    checkKeys(message, [...keys, ...extraKeys], place);

    if (message.role === "tool") {
      answerCall(message, open, place);
      continue;
    }
    refuseOpenCalls(open, place);
    if (message.role === "assistant") {
      checkAssistant(message, place);
      open = checkCalls(message.tool_calls, everyId, extraKeys, place);
    } else {
      checkContent(message.content, place);
    }
  }
  refuseOpenCalls(open, `messages[${messages.length}]`);
}

function answerCall(message: Members, open: Set<string>, place: string): void {
  if (typeof message.content !== "string") {
    throw new Fault(place, "the content of a tool message must be a string");
  }
  const id = message.tool_call_id;
  if (!isText(id)) throw new Fault(place, "must have a tool_call_id");
  if (!open.delete(id)) {
    throw new Fault(
      place,
      `answers ${
        quote(id)
      }, which is no open call of the assistant message before it`,
    );
  }
}

function refuseOpenCalls(open: ReadonlySet<string>, place: string): void {
  if (open.size === 0) return;
  const ids = [...open].map(quote).join(", ");
  throw new Fault(place, `a tool message must answer ${ids} first`);
}

function checkAssistant(message: Members, place: string): void {
  const { content, tool_calls: calls } = message;
  if (calls !== undefined && (!Array.isArray(calls) || calls.length === 0)) {
    throw new Fault(place, "tool_calls must be left out or hold a call");
  }
  if (
    content !== undefined && content !== null && typeof content !== "string"
  ) {
    checkContent(content, place);
  } else if (!content && calls === undefined) {
    throw new Fault(
      place,
      "an assistant message must have content or tool_calls",
    );
  }
}

const toolName = /^[a-zA-Z0-9_-]{1,64}$/;

/** The ids that tool messages must answer. */
function checkCalls(
  calls: unknown,
  everyId: Set<string>,
  extraKeys: readonly string[],
  place: string,
): Set<string> {
  const open = new Set<string>();
  for (const [index, call] of (calls as Members[] ?? []).entries()) {
    const at = `${place}.tool_calls[${index}]`;
    if (!isJsonObject(call)) throw new Fault(at, "must be an object");
    checkKeys(call, ["id", "type", "function", ...extraKeys], at);
    const { id, type, function: called } = call;
    if (!isText(id)) throw new Fault(at, "must have an id");
    if (everyId.has(id)) {
      throw new Fault(at, `the id ${quote(id)} occurs twice`);
    }
    if (type !== "function") throw new Fault(at, 'must be of type "function"');
    if (!isJsonObject(called)) throw new Fault(at, "must name a function");
    checkKeys(called, ["name", "arguments", ...extraKeys], `${at}.function`);
    checkToolName(called.name, at);
    if (typeof called.arguments !== "string") {
      throw new Fault(at, "arguments must be a string");
    }
    everyId.add(id);
    open.add(id);
  }
  return open;
}

const partTypes = ["text", "image_url", "input_audio", "file"];

function checkContent(content: unknown, place: string): void {
  if (typeof content === "string") return;
  if (!Array.isArray(content) || content.length === 0) {
    throw new Fault(place, "content must be a string or a list of parts");
  }
  for (const [index, part] of content.entries()) {
    const at = `${place}.content[${index}]`;
    if (!isJsonObject(part) || !partTypes.includes(String(part.type))) {
      throw new Fault(at, `type must be one of ${partTypes.join(", ")}`);
    }
    if (part[String(part.type)] === undefined) {
      throw new Fault(at, `must have a member ${part.type}`);
    }
  }
}

function checkTools(body: Members): void {
  const { tools } = body;
  if (tools === undefined) {
    for (const key of ["tool_choice", "parallel_tool_calls"]) {
      if (body[key] === undefined) continue;
      throw new Fault(key, "is only allowed with tools");
    }
    return;
  }
  if (!Array.isArray(tools) || tools.length === 0) {
    throw new Fault("tools", "must be left out or hold a tool");
  }
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    const place = `tools[${index}]`;
    if (tool?.type !== "function" || !isJsonObject(tool.function)) {
      throw new Fault(place, "must describe a function");
    }
    const { name, parameters } = tool.function;
    checkToolName(name, place);
    if (names.has(name)) throw new Fault(place, `${quote(name)} occurs twice`);
    names.add(name);
    if (
      parameters !== undefined &&
      (!isJsonObject(parameters) || parameters.type !== "object")
    ) {
      throw new Fault(place, 'parameters must be a schema of type "object"');
    }
  }
}

function checkToolName(name: unknown, place: string): asserts name is string {
  if (typeof name === "string" && toolName.test(name)) return;
  throw new Fault(place, `the name ${quote(name)} does not match ${toolName}`);
}

function checkKeys(
  value: Members,
  known: readonly string[],
  place: string,
): void {
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw new Fault(place, `the key ${quote(unknown)} is not known here`);
}

const loneSurrogate = /\p{Surrogate}/u;

function checkSurrogates(value: unknown, place: string): void {
  if (typeof value === "string") {
    if (loneSurrogate.test(value)) {
      throw new Fault(place, "half of a surrogate pair is no valid text");
    }
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      checkSurrogates(item, `${place}[${index}]`);
    }
  } else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      checkSurrogates(key, place);
      checkSurrogates(member, place === "body" ? key : `${place}.${key}`);
    }
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function quote(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
