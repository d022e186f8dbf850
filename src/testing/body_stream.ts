import { unlessAborted } from "../base/abort.ts";
import type { Clock } from "../base/ports.ts";
import type { Delivery, RespondStep } from "./server_steps.ts";

type Parts = RespondStep["body"];

/** What a response body needs to know of its request. */
export interface BodyStreamOptions {
  /** How the bytes travel. */
  readonly delivery: Delivery;
  /** Errors the body. */
  readonly signal: AbortSignal;
  /** Drives the delays. */
  readonly clock: Clock;
  /** Called once when the body is over: complete, broken or given up by its reader. */
  readonly onEnd: () => void;
}

/**
 * A response body that is produced as it is read, never ahead.
 *
 * @param parts Texts and bytes; each counts as one event.
 */
export function bodyStream(
  parts: Parts,
  options: BodyStreamOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const pieces = deliverPieces(parts, options);
  return new ReadableStream({
    async pull(controller) {
      try {
        const next = await unlessAborted(pieces.next(), options.signal);
        if (!next.done) return controller.enqueue(next.value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      options.onEnd();
    },
    cancel: () => options.onEnd(),
  }, { highWaterMark: 0 });
}

async function* deliverPieces(
  parts: Parts,
  { delivery, clock }: BodyStreamOptions,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  let index = 0;
  for await (const piece of shorten(parts, delivery)) {
    await delivery.beforeChunk?.(index++);
    const { delayMs = 0 } = delivery;
    if (delayMs > 0) {
      await new Promise<void>((resolve) => clock.setTimer(delayMs, resolve));
    }
    yield piece;
  }
}

/** The pieces up to the cut, if there is one. */
async function* shorten(
  parts: Parts,
  delivery: Delivery,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  let eventsLeft = delivery.cutAfterEvents ?? Infinity;
  let bytesLeft = delivery.cutAfterBytes ?? Infinity;
  for await (const part of parts) {
    if (eventsLeft === 0) return endAtCut(delivery);
    eventsLeft -= 1;
    for (const piece of split(part, delivery.chunkBytes)) {
      if (bytesLeft === 0) return endAtCut(delivery);
      const whole = piece.length <= bytesLeft;
      yield whole ? piece : piece.slice(0, bytesLeft);
      if (!whole) return endAtCut(delivery);
      bytesLeft -= piece.length;
    }
  }
}

function endAtCut({ cut = "reset" }: Delivery): void {
  // What `fetch` rejects with when a connection breaks is a TypeError everywhere.
  if (cut === "reset") throw new TypeError("The connection was cut");
}

const encoder = new TextEncoder();

function* split(
  part: string | Uint8Array,
  size: number | undefined,
): Generator<Uint8Array<ArrayBuffer>, void, void> {
  const bytes = typeof part === "string"
    ? encoder.encode(part)
    : new Uint8Array(part);
  const step = size ?? Math.max(bytes.length, 1);
  for (let start = 0; start < bytes.length; start += step) {
    yield bytes.slice(start, start + step);
  }
}
