import type { Attributes, Histogram, Meter } from "@opentelemetry/api";
import type { Guard } from "./guard.ts";
import { HISTOGRAM, type HistogramName } from "./semconv.ts";

/** Records measurements; a meter that throws records nothing. */
export class Measurements {
  readonly #guard: Guard;
  readonly #histograms = new Map<string, Histogram>();

  /** Creates the histograms. @param findMeter Called once. */
  constructor(findMeter: () => Meter, guard: Guard) {
    this.#guard = guard;
    const meter = guard.attempt(findMeter);
    if (meter === undefined) return;
    for (const [key, spec] of Object.entries(HISTOGRAM)) {
      const { name, unit, description, buckets } = spec;
      guard.attempt(() => {
        const histogram = meter.createHistogram(name, {
          unit,
          description,
          advice: { explicitBucketBoundaries: [...buckets] },
        });
        this.#histograms.set(key, histogram);
      });
    }
  }

  /** Records one measurement. */
  record(name: HistogramName, value: number, attributes: Attributes): void {
    this.#guard.attempt(() =>
      this.#histograms.get(name)?.record(value, attributes)
    );
  }
}
