import type { ToolEffect } from "../messages/tool.ts";
import type { ToolDefinition } from "../tools/definition.ts";
import { ToolDefinitionError } from "../tools/errors.ts";
import type { McpManager } from "./manager.ts";
import { exposedPrefix } from "./names.ts";
import type { McpTool } from "./protocol.ts";

/** What is known of the effects of tools. */
export interface EffectOptions {
  /** Effects by the names that the model sees. */
  readonly toolEffects?: Readonly<Record<string, ToolEffect>> | undefined;
  /** True believes servers that call a tool read-only. */
  readonly trustAnnotations?: boolean | undefined;
}

/** The effect of a tool; side-effecting unless somebody says otherwise. */
export function effectOf(
  { name, annotations }: McpTool,
  { toolEffects = {}, trustAnnotations = false }: EffectOptions,
): ToolEffect {
  if (Object.hasOwn(toolEffects, name)) return toolEffects[name]!;
  return trustAnnotations && annotations?.readOnlyHint === true
    ? "read_only"
    : "side_effecting";
}

/**
 * Names that have an effect but no tool, as their servers are not connected.
 *
 * @throws {ToolDefinitionError} No server that may still come can have such a tool.
 */
export function unusedEffects(
  effects: Readonly<Record<string, ToolEffect>>,
  tools: readonly ToolDefinition[],
  manager: McpManager,
): readonly string[] {
  const known = new Set(tools.map(({ name }) => name));
  const unknown = Object.keys(effects).filter((name) => !known.has(name))
    .sort();
  const lost = unknown.filter((name) => !mayComeLater(name, manager));
  if (lost.length === 0) return unknown;
  throw new ToolDefinitionError(
    `McpToolHandler has effects for unknown tools: ${lost.join(", ")}`,
  );
}

/** True if a server that is not connected may have the tool. */
function mayComeLater(name: string, manager: McpManager): boolean {
  const { serverNames = [] } = manager;
  return serverNames.some((server) =>
    name.startsWith(exposedPrefix(server)) &&
    manager.serverStatus?.(server)?.status !== "connected"
  );
}
