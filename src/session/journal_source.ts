import { requireType } from "../base/require.ts";
import { abortableSteps } from "./abortable.ts";
import type { StorageCallOptions } from "./storage.ts";

/** Bytes of a JSONL journal: the body of a response, an open file, an export. */
export type JournalSource =
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>;

/** The bytes of a source, in pieces. @throws {TypeError} It gives anything else. */
export async function* bytesOf(
  source: JournalSource,
  { signal }: StorageCallOptions,
): AsyncGenerator<Uint8Array> {
  const pieces = source as AsyncIterable<Uint8Array> | null | undefined;
  requireType(
    typeof pieces?.[Symbol.asyncIterator] === "function",
    "source",
    "a stream of bytes, like the body of a Response, or a function that opens one",
  );
  const given = source instanceof ReadableStream ? piecesOf(source) : pieces;
  for await (const bytes of abortableSteps(given, signal)) {
    requireType(
      bytes instanceof Uint8Array,
      "What source gives",
      "bytes; send texts through a TextEncoderStream",
    );
    yield bytes;
  }
}

/** A stream that can be cancelled while it is read, which its own iteration cannot. */
function piecesOf(
  stream: ReadableStream<Uint8Array>,
): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const reader = stream.getReader();
      return {
        async next() {
          const step = await reader.read();
          if (step.done) reader.releaseLock();
          return step as IteratorResult<Uint8Array>;
        },
        async return() {
          await reader.cancel();
          reader.releaseLock();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
