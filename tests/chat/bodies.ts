import type { FetchLike } from "../../src/chat/transport.ts";

const encoder = new TextEncoder();

/** A body whose end is known. */
export interface WatchedBody {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** How it came to its end, if it did. */
  readonly ended: "read" | "cancelled" | undefined;
}

/** A body that hands out these pieces, one per read. */
export function watchedBody(
  pieces: Iterable<Uint8Array<ArrayBuffer>>,
): WatchedBody {
  const iterator = pieces[Symbol.iterator]();
  let ended: WatchedBody["ended"];
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const { done, value } = iterator.next();
      if (!done) return controller.enqueue(value);
      ended = "read";
      controller.close();
    },
    cancel() {
      ended = "cancelled";
    },
  }, { highWaterMark: 0 });
  return {
    stream,
    get ended() {
      return ended;
    },
  };
}

/** The lines of an event stream with these chunks, one event per chunk, and `[DONE]`. */
export function eventsOf(...chunks: readonly unknown[]): string {
  return [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"]
    .map((data) => `data: ${data}\n\n`)
    .join("");
}

/** A chunk with one choice. */
export function chunk(delta: unknown, finish: string | null = null): unknown {
  return { choices: [{ index: 0, delta, finish_reason: finish }] };
}

/** A fetch that answers every request with status 200 and this text. */
export function answering(text: string): FetchLike {
  return () => Promise.resolve(new Response(text));
}

/** A fetch that answers with the responses in turn and keeps what it was sent. */
export function playing(
  ...responses: readonly (() => Response)[]
): { readonly fetch: FetchLike; readonly requests: RecordedRequest[] } {
  const requests: RecordedRequest[] = [];
  return {
    requests,
    async fetch(url, init) {
      const request = new Request(url, init);
      requests.push({
        url,
        headers: request.headers,
        body: await request.json(),
      });
      return responses[requests.length - 1]!();
    },
  };
}

/** What a server got. */
export interface RecordedRequest {
  readonly url: string;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

/** UTF-8. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** Cuts bytes into single ones. */
export function oneByOne(
  bytes: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer>[] {
  return Array.from(bytes, (byte) => Uint8Array.of(byte));
}

/** Cuts bytes at places that depend on nothing but the seed. */
export function randomCuts(
  bytes: Uint8Array<ArrayBuffer>,
  seed: number,
): Uint8Array<ArrayBuffer>[] {
  const random = mulberry(seed);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let from = 0; from < bytes.length;) {
    const to = from + 1 + Math.floor(random() * 40);
    pieces.push(bytes.slice(from, to));
    from = to;
  }
  return pieces;
}

/** Joins pieces. */
export function joined(
  pieces: readonly Uint8Array<ArrayBuffer>[],
): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(pieces.flatMap((piece) => [...piece]));
}

function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
