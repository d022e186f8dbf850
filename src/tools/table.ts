import { throwIfAborted } from "../base/abort.ts";
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
  const mayWait = layers.some(({ aroundTool }) => aroundTool);
  const chain = composeToolMiddlewares(
    layers,
    (context) => {
      // A layer that was given up while it waited must not begin a call.
      if (mayWait) throwIfAborted(context.signal);
      return registry.handlerOf(context.toolName).execute(context);
    },
    (toolName) => registry.definitionOf(toolName),
  );
  return { handlers, layers, registry, chain };
}
