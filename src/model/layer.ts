import { requireGenerator } from "../base/require.ts";
import type { ModelRequest, ModelStream } from "./adapter.ts";

/** Runs what is inside a layer; without an argument the request is passed on as it is. */
export type ModelNext = (request?: ModelRequest) => ModelStream;

/** The part of a middleware that wraps each model request. */
export interface ModelLayer {
  /**
   * Wraps one model request, from after the context was built to the completed
   * response.
   *
   * May change the request, the deltas and the response, answer without `next`,
   * or call `next` again as long as no delta has been yielded. Called once per
   * request: every turn and every retry after an overflow.
   *
   * @returns A generator that yields deltas and returns the completed response.
   */
  aroundModel?(request: ModelRequest, next: ModelNext): ModelStream;
}

/** Puts layers around a model stream; the first is the outermost. */
export function composeModelLayers(
  layers: readonly ModelLayer[],
  innermost: (request: ModelRequest) => ModelStream,
): (request: ModelRequest) => ModelStream {
  return layers.reduceRight<(request: ModelRequest) => ModelStream>(
    (inner, layer) => {
      if (layer.aroundModel === undefined) return inner;
      return (request) =>
        requireGenerator(
          "aroundModel",
          layer.aroundModel!(request, (changed = request) => inner(changed)),
        );
    },
    innermost,
  );
}
