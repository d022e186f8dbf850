import { requireGenerator } from "../base/require.ts";
import { LayerStream } from "./layer_stream.ts";
import {
  type AgentLayer,
  AgentPipelineError,
  type AgentRequest,
  type AgentStream,
} from "./middleware.ts";

/**
 * Puts layers around a run; the first is the outermost.
 *
 * A layer may throw when it is called. Inside it, an {@linkcode AgentPipelineError}
 * comes out of `next` if it changes what must not change, calls `next` while an
 * earlier stream is open, or gets something from there that is no result.
 */
export function composeAgentLayers(
  layers: readonly AgentLayer[],
  innermost: (request: AgentRequest) => AgentStream,
): (request: AgentRequest) => AgentStream {
  return layers.reduceRight<(request: AgentRequest) => AgentStream>(
    (inner, layer) =>
      layer.aroundRun === undefined ? inner : wrap(layer, inner),
    innermost,
  );
}

function wrap(
  layer: AgentLayer,
  inner: (request: AgentRequest) => AgentStream,
): (request: AgentRequest) => AgentStream {
  return (request) => {
    let isOpen = false;
    const next = (changed: AgentRequest = request) =>
      new LayerStream(() => {
        if (isOpen) {
          throw new AgentPipelineError(
            "next() was called again before the stream of the previous call had ended",
          );
        }
        requireSameRun(request, changed);
        isOpen = true;
        return inner(changed);
      }, () => isOpen = false);
    return requireGenerator("aroundRun", layer.aroundRun!(request, next));
  };
}

function requireSameRun(original: AgentRequest, changed: AgentRequest): void {
  for (const member of ["kind", "agent", "scope"] as const) {
    if (changed[member] !== original[member]) {
      throw new AgentPipelineError(
        `Middleware must pass ${member} of the request on unchanged`,
      );
    }
  }
}
