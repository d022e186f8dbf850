import { compareCodePoints, isPlainObject } from "../base/json.ts";
import { toJsonRelative } from "./serialize.ts";

/** What is said about a call above its arguments. */
export interface ToolCallPreviewOptions {
  /** Outcome of a review; shown instead of `risk`. */
  readonly review?: string | undefined;
  /** What could go wrong. */
  readonly risk?: string | undefined;
}

/**
 * Renders a call for somebody who is to approve it.
 *
 * Lines: the tool, the review or risk if there is one, then the arguments as
 * JSON, two spaces a level, keys sorted. What JSON does not know is written as
 * in tool results; a cycle as `[unserialisable]`.
 *
 * @example A call with a risk
 * ```ts
 * import { formatToolCallPreview } from "@ejagent/core";
 * import { equal } from "node:assert/strict";
 *
 * equal(
 *   formatToolCallPreview("rm", { path: "/tmp/x" }, { risk: "deletes files" }),
 *   'Tool: rm\nReview: deletes files\nArguments:\n{\n  "path": "/tmp/x"\n}',
 * );
 * ```
 */
export function formatToolCallPreview(
  toolName: string,
  args: unknown,
  options: ToolCallPreviewOptions = {},
): string {
  const review = options.review || options.risk;
  return [
    `Tool: ${toolName}`,
    ...(review ? [`Review: ${review}`] : []),
    "Arguments:",
    JSON.stringify(sorted(args, []), null, 2) ?? "null",
  ].join("\n");
}

const UNSERIALISABLE = "[unserialisable]";

function sorted(value: unknown, parents: readonly unknown[]): unknown {
  if (parents.includes(value)) return UNSERIALISABLE;
  try {
    const json = jsonForm(value);
    const path = [...parents, value];
    if (Array.isArray(json)) return json.map((item) => sorted(item, path));
    if (!isPlainObject(json)) return json;
    return Object.fromEntries(
      Object.keys(json)
        .sort(compareCodePoints)
        .map((key) => [key, sorted(json[key], path)]),
    );
  } catch {
    return UNSERIALISABLE;
  }
}

function jsonForm(value: unknown): unknown {
  const relative = toJsonRelative(value);
  if (relative !== value || typeof value !== "object" || value === null) {
    return relative;
  }
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return toJSON.call(value, "");
  return Array.isArray(value) ? value : { ...value };
}
