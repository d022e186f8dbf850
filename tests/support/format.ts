/** Renders a value over several lines, the same on every runtime, for messages of failed assertions. */
export function format(value: unknown): string {
  return render(value, "", new Set());
}

/** The two renderings line by line: unchanged lines indented, `-` only expected, `+` only actual. */
export function formatDifference(actual: unknown, expected: unknown): string {
  const before = format(expected).split("\n");
  const after = format(actual).split("\n");
  const common = longestCommonSuffixes(before, after);
  const lines: string[] = [];
  let left = 0;
  let right = 0;
  while (left < before.length || right < after.length) {
    if (
      left < before.length && right < after.length &&
      before[left] === after[right]
    ) {
      lines.push(`  ${before[left]}`);
      left += 1;
      right += 1;
    } else if (
      right >= after.length ||
      left < before.length &&
        common[left + 1]![right]! >= common[left]![right + 1]!
    ) {
      lines.push(`- ${before[left]}`);
      left += 1;
    } else {
      lines.push(`+ ${after[right]}`);
      right += 1;
    }
  }
  return lines.join("\n");
}

/** `table[i][j]` is the length of the longest common subsequence of `a` from `i` and `b` from `j`. */
function longestCommonSuffixes(
  a: readonly string[],
  b: readonly string[],
): number[][] {
  const table = Array.from(
    { length: a.length + 1 },
    () => new Array<number>(b.length + 1).fill(0),
  );
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      table[i]![j] = a[i] === b[j]
        ? table[i + 1]![j + 1]! + 1
        : Math.max(table[i + 1]![j]!, table[i]![j + 1]!);
    }
  }
  return table;
}

function render(value: unknown, indent: string, open: Set<object>): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (Object.is(value, -0)) return "-0";
  if (typeof value === "function") {
    return `[Function ${value.name || "anonymous"}]`;
  }
  if (typeof value !== "object" || value === null) return String(value);
  if (open.has(value)) return "[Circular]";

  open.add(value);
  const text = renderObject(value, indent, open);
  open.delete(value);
  return text;
}

function renderObject(
  value: object,
  indent: string,
  open: Set<object>,
): string {
  const inner = `${indent}  `;
  const item = (entry: unknown) => render(entry, inner, open);
  if (value instanceof Date) {
    return `Date(${
      Number.isNaN(value.getTime()) ? "invalid" : value.toISOString()
    })`;
  }
  if (value instanceof RegExp) return String(value);
  if (value instanceof Promise) return "Promise";
  if (value instanceof ArrayBuffer) {
    return `ArrayBuffer(${[...new Uint8Array(value)].join(", ")})`;
  }
  if (ArrayBuffer.isView(value)) {
    const bytes = new Uint8Array(
      value.buffer,
      value.byteOffset,
      value.byteLength,
    );
    return `${value.constructor.name}(${bytes.join(", ")})`;
  }
  if (value instanceof Map) {
    const entries = [...value].map(([key, entry]) =>
      `${item(key)} => ${item(entry)}`
    );
    return block("Map {", entries, "}", indent);
  }
  if (value instanceof Set) {
    return block("Set {", [...value].map(item), "}", indent);
  }
  if (Array.isArray(value)) return block("[", value.map(item), "]", indent);

  const members = Reflect.ownKeys(value)
    .filter((key) => Object.prototype.propertyIsEnumerable.call(value, key))
    .map((key) => ({
      key,
      name: typeof key === "symbol" ? String(key) : memberName(key),
    }))
    .sort((a, b) => a.name < b.name ? -1 : 1)
    .map(({ key, name }) =>
      `${name}: ${item((value as Record<PropertyKey, unknown>)[key])}`
    );
  if (value instanceof Error) {
    const title = `${value.name}: ${value.message}`;
    return members.length === 0
      ? `[${title}]`
      : block(`[${title}] {`, members, "}", indent);
  }
  return block(`${classPrefix(value)}{`, members, "}", indent);
}

function block(
  head: string,
  lines: readonly string[],
  tail: string,
  indent: string,
): string {
  if (lines.length === 0) return head + tail;
  return `${head}\n${
    lines.map((line) => `${indent}  ${line},\n`).join("")
  }${indent}${tail}`;
}

function memberName(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}

function classPrefix(value: object): string {
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return "";
  return `${prototype.constructor?.name ?? "Object"} `;
}
