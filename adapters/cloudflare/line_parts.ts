// A row may have 2 MB, the other columns included.
const maxPartBytes = 1_500_000;

/** The bytes of a line that is too long for one row, in parts; no parts for any other line. */
export function splitLine(line: string): ArrayBuffer[] {
  // A UTF-16 unit has three bytes at most.
  if (line.length * 3 <= maxPartBytes) return [];
  const bytes = new TextEncoder().encode(line);
  if (bytes.length <= maxPartBytes) return [];
  const parts: ArrayBuffer[] = [];
  for (let from = 0; from < bytes.length; from += maxPartBytes) {
    parts.push(bytes.slice(from, from + maxPartBytes).buffer);
  }
  return parts;
}

/** Joins the parts again. */
export function joinLine(parts: readonly ArrayBuffer[]): string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const texts = parts.map((part) => decoder.decode(part, { stream: true }));
  return texts.join("") + decoder.decode();
}
