/** What middleware around a run costs for each event: a long streamed answer, no provider. */

import { Agent, type Middleware } from "@ejagent/core";
import { deltas, ScriptedModel } from "@ejagent/core/testing";

const eventCount = 10_000;
const pieces = Array.from({ length: eventCount }, () => "x");

const passThrough: Middleware = {
  aroundRun: (request, next) => next(request),
};

const forwarding: Middleware = {
  async *aroundRun(request, next) {
    return yield* next(request);
  },
};

for (const layerCount of [0, 1, 2, 8]) {
  bench(`${layerCount} layers that forward`, layerCount, forwarding);
}
bench("8 layers that hand on the inner stream", 8, passThrough);

function bench(name: string, count: number, layer: Middleware): void {
  Deno.bench(`a run of ${eventCount} events, ${name}`, async () => {
    const agent = new Agent({
      agentId: "bench",
      model: new ScriptedModel([deltas(pieces)]),
      middleware: Array.from({ length: count }, () => layer),
    });
    await agent.run("Go");
  });
}
