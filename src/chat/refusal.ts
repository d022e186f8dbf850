import type { Exchange } from "./exchange.ts";

const longestBodyBytes = 64 * 1024;

/**
 * Reads what a server says about a refusal, up to 64 KiB of it and no longer
 * than one wait may take.
 *
 * A body that breaks off counts as far as it came; only an abort ends the
 * reading with an error.
 *
 * @returns Parsed JSON, else the text; undefined without a body.
 */
export async function readRefusal(
  exchange: Exchange,
  signal: AbortSignal,
): Promise<unknown> {
  const decoder = new TextDecoder();
  let text = "";
  exchange.shareTime();
  try {
    for (let size = 0; size < longestBodyBytes;) {
      const bytes = await exchange.read();
      if (bytes === undefined) break;
      size += bytes.length;
      text += decoder.decode(bytes, { stream: true });
    }
  } catch {
    signal.throwIfAborted();
  }
  return text.trim() === ""
    ? undefined
    : parsed(text.slice(0, longestBodyBytes));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
