import { isJsonObject } from "../base/json.ts";
import { McpToolError } from "./errors.ts";
import type { McpContentBlock, McpToolResult } from "./protocol.ts";

/** How a result becomes data for the model. */
export interface ConvertMcpResultOptions {
  /** Name of the tool that the model called. */
  readonly toolName: string;
  /**
   * True keeps images, audio and binary resources as base64; false tells their size
   * instead, which costs the model far fewer tokens.
   *
   * @default {false}
   */
  readonly includeBinary?: boolean | undefined;
}

/**
 * Turns the result of a call into data for the model.
 *
 * A structured result is taken as it is, without the copy of it in the text; only the
 * base64 of a block beside it, which servers repeat there, becomes its size. Texts alone
 * become one text, line by line. Everything else becomes `{ content: [...] }` with one
 * entry for each block.
 *
 * @throws {McpToolError} The tool failed; the message is what it said. Or its content
 * is not what the protocol allows.
 *
 * @example A result of two texts
 * ```ts
 * import { convertMcpResult } from "@ejagent/core/mcp";
 * import { equal } from "node:assert/strict";
 *
 * const content = [{ type: "text", text: "a" }, { type: "text", text: "b" }];
 * equal(convertMcpResult({ content }, { toolName: "notes__list" }), "a\nb");
 * ```
 */
export function convertMcpResult(
  result: McpToolResult,
  options: ConvertMcpResultOptions,
): unknown {
  const { structuredContent, isError } = result;
  const content = contentOf(result);
  const texts = content.filter(isText).map(({ text }) => text);
  if (isError === true) {
    const message = texts.join("\n");
    throw new McpToolError(message || "MCP tool reported an error");
  }
  if (structuredContent !== undefined) {
    const others = content.filter((block) => !isText(block));
    if (others.length === 0) return structuredContent;
    return {
      structuredContent: options.includeBinary
        ? structuredContent
        : withSizes(structuredContent, base64In(others)),
      content: blocksOf(others, options),
    };
  }
  if (texts.length > 0 && texts.length === content.length) {
    return texts.join("\n");
  }
  return { content: blocksOf(content, options) };
}

// What a server sends instead of a list is not read by anybody before.
function contentOf(
  { content = [] }: McpToolResult,
): readonly McpContentBlock[] {
  if (Array.isArray(content) && content.every(isJsonObject)) {
    return content as unknown as readonly McpContentBlock[];
  }
  throw new McpToolError("MCP tool returned content that is no list of blocks");
}

function blocksOf(
  content: readonly McpContentBlock[],
  { includeBinary = false }: ConvertMcpResultOptions,
): readonly object[] {
  return content.map((block) => convertBlock(block, includeBinary));
}

function convertBlock(block: McpContentBlock, includeBinary: boolean): object {
  const { type } = block;
  switch (type) {
    case "text":
      return pick(block, ["type", "text"]);
    case "image":
    case "audio":
      return {
        ...pick(block, ["type", "mimeType"]),
        ...binary("data", block.data, includeBinary),
      };
    case "resource": {
      const resource = Object(block.resource);
      return {
        type,
        ...pick(resource, ["uri", "mimeType", "text"]),
        ...(resource.blob !== undefined &&
          binary("blob", resource.blob, includeBinary)),
      };
    }
    case "resource_link":
      return pick(block, ["type", "uri", "name", "mimeType", "description"]);
    default:
      return { type };
  }
}

/** The binary parts of blocks, as they were sent. */
function base64In(content: readonly McpContentBlock[]): ReadonlySet<unknown> {
  return new Set(
    content.flatMap(({ data, resource }) => [data, Object(resource).blob])
      .filter((part) => typeof part === "string" && part !== ""),
  );
}

/** A copy with the size of each known binary part in its place. */
function withSizes(value: unknown, binaries: ReadonlySet<unknown>): unknown {
  if (binaries.has(value)) return `${decodedLength(String(value))} bytes`;
  if (Array.isArray(value)) {
    return value.map((entry) => withSizes(entry, binaries));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map((
      [name, member],
    ) => [name, withSizes(member, binaries)]),
  );
}

function binary(member: string, base64: unknown, include: boolean): object {
  const text = String(base64 ?? "");
  return include ? { [member]: text } : { bytes: decodedLength(text) };
}

/** The number of bytes that a base64 text stands for. */
function decodedLength(base64: string): number {
  const digits = base64.replace(/[=\s]/g, "");
  return Math.floor(digits.length * 3 / 4);
}

function pick(
  source: Readonly<Record<string, unknown>>,
  members: readonly string[],
): Record<string, unknown> {
  const present = members.filter((member) => source[member] !== undefined);
  return Object.fromEntries(present.map((member) => [member, source[member]]));
}

function isText(
  block: McpContentBlock,
): block is McpContentBlock & { readonly text: string } {
  return block.type === "text" && typeof block.text === "string";
}
