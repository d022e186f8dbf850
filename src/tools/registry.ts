import { frozen } from "../base/freeze.ts";
import type { OpenAIFunctionTool, ToolEffect } from "../messages/tool.ts";
import { openAIToolView, type ToolDefinition } from "./definition.ts";
import { DuplicateToolError, UnknownToolError } from "./errors.ts";
import type { ToolHandler } from "./handler.ts";

/**
 * The tools of a list of handlers at one moment.
 *
 * What the model is shown, how calls are routed and what middleware is
 * configured with all come from the same registry, so that they agree.
 */
export class ToolRegistry {
  /** Definitions: handlers in order, the tools of each in order. */
  readonly definitions: readonly ToolDefinition[];
  /** The same in the form that providers take, frozen. */
  readonly tools: readonly OpenAIFunctionTool[];
  readonly #offers: readonly (readonly ToolDefinition[])[];
  readonly #byName: ReadonlyMap<string, Route>;

  /** @throws {DuplicateToolError} Two tools have the same name. */
  constructor(handlers: readonly ToolHandler[]) {
    this.#offers = handlers.map((handler) => [...handler.toolDefinitions]);
    this.#byName = routesOf(handlers, this.#offers);
    this.definitions = frozen(
      [...this.#byName.values()].map((route) => route.definition),
    );
    this.tools = frozen(this.definitions.map(openAIToolView));
  }

  /** True as long as the handlers offer what they did. */
  matches(handlers: readonly ToolHandler[]): boolean {
    return handlers.length === this.#offers.length &&
      handlers.every((handler, index) =>
        isSameList(handler.toolDefinitions, this.#offers[index]!)
      );
  }

  /** The definition of a tool; undefined if no tool has that name. */
  definitionOf(toolName: string): ToolDefinition | undefined {
    return this.#byName.get(toolName)?.definition;
  }

  /** The effect of a tool; one that does not exist counts as side-effecting. */
  effectOf(toolName: string): ToolEffect {
    return this.definitionOf(toolName)?.effect ?? "side_effecting";
  }

  /** The handler of a tool. @throws {UnknownToolError} No tool has that name. */
  handlerOf(toolName: string): ToolHandler {
    const route = this.#byName.get(toolName);
    if (route !== undefined) return route.handler;
    throw new UnknownToolError(toolName, this.#byName.keys());
  }
}

/** What handlers offer now, with the effects that they declare. */
export function offeredDefinitions(
  handlers: readonly ToolHandler[],
): readonly ToolDefinition[] {
  return handlers.flatMap((handler) =>
    handler.toolDefinitions.map((definition) => effective(definition, handler))
  );
}

interface Route {
  readonly handler: ToolHandler;
  readonly definition: ToolDefinition;
}

function routesOf(
  handlers: readonly ToolHandler[],
  offers: readonly (readonly ToolDefinition[])[],
): ReadonlyMap<string, Route> {
  const routes = new Map<string, Route>();
  handlers.forEach((handler, index) => {
    for (const definition of offers[index]!) {
      const { name } = definition;
      const taken = routes.get(name);
      if (taken !== undefined) {
        throw new DuplicateToolError(name, [
          taken.handler.constructor.name,
          handler.constructor.name,
        ]);
      }
      routes.set(name, { handler, definition: effective(definition, handler) });
    }
  });
  return routes;
}

function effective(
  definition: ToolDefinition,
  handler: ToolHandler,
): ToolDefinition {
  const effect = handler.toolEffect?.(definition.name) ?? definition.effect;
  return effect === definition.effect
    ? definition
    : definition.withEffect(effect);
}

function isSameList<T>(left: readonly T[], right: readonly T[]): boolean {
  return left.length === right.length &&
    left.every((item, index) => item === right[index]);
}
