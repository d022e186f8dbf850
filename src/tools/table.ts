import type { ToolHandler } from "./handler.ts";
import {
  composeToolMiddlewares,
  type ToolChain,
  type ToolLayer,
} from "./middleware.ts";
import { ToolRegistry } from "./registry.ts";

/** What is in force for a turn: tools, configured middleware and the chain agree. */
export interface ToolTable {
  /** Owners of the tools, in order. */
  readonly handlers: readonly ToolHandler[];
  /** Active middleware, outermost first. */
  readonly layers: readonly ToolLayer[];
  /** The tools. */
  readonly registry: ToolRegistry;
  /** Executes the tool that a context names, through the middleware. */
  readonly chain: ToolChain;
}

/**
 * Registers what the handlers offer now and tells the middleware about it.
 *
 * @throws {DuplicateToolError} Two tools have the same name.
 * @throws What a middleware throws that cannot work with the tools.
 */
export function tableOf(
  handlers: readonly ToolHandler[],
  layers: readonly ToolLayer[],
): ToolTable {
  const registry = new ToolRegistry(handlers);
  for (const layer of layers) layer.configureTools?.(registry.definitions);
  const chain = composeToolMiddlewares(
    layers,
    (context) => registry.handlerOf(context.toolName).execute(context),
    (toolName) => registry.definitionOf(toolName),
  );
  return { handlers, layers, registry, chain };
}
