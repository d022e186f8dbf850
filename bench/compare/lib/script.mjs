// Deterministic conversations shared by the loopback server and the in-process fake models.
// A "kind" string names a whole conversation:
//   tools-N       N turns with one tool call each, then a final text turn
//   fan-WxN       N turns with W parallel tool calls each, then a final text turn
//   text-N        one turn streaming N text deltas
//   plain         one short text turn (every request gets the same answer)
export const TOOL_NAME = "probe";
export const SYSTEM =
  "You are a benchmark subject. Use the probe tool when asked.";
export const PROMPT = "Run the script.";
export const TOOL_PARAMETERS = {
  type: "object",
  properties: { n: { type: "integer" } },
  required: ["n"],
  additionalProperties: false,
};
const PAD =
  "the quick brown fox jumps over the lazy dog and back again until the line is full";
export const toolResult = (n) => `ok ${n}: ${PAD}`;

const FINAL = ["All ", "steps ", "are ", "done."];

/** Returns turn k of a conversation as { text: string[], calls: {id,name,args}[] }. */
export function turnOf(kind, k) {
  let m;
  if (kind === "plain") return { text: FINAL, calls: [] };
  if ((m = /^tools-(\d+)$/.exec(kind))) {
    if (k >= +m[1]) return { text: FINAL, calls: [] };
    return {
      text: ["Working ", "on ", `step ${k}.`],
      calls: [{ id: `call_${k}_0`, name: TOOL_NAME, args: `{"n":${k}}` }],
    };
  }
  if ((m = /^fan-(\d+)x(\d+)$/.exec(kind))) {
    if (k >= +m[2]) return { text: FINAL, calls: [] };
    const calls = [];
    for (let i = 0; i < +m[1]; i++) {
      calls.push({ id: `call_${k}_${i}`, name: TOOL_NAME, args: `{"n":${i}}` });
    }
    return { text: [`Fan ${k}.`], calls };
  }
  if ((m = /^text-(\d+)$/.exec(kind))) {
    const text = new Array(+m[1]);
    for (let i = 0; i < text.length; i++) text[i] = DELTAS[i & 15];
    return { text, calls: [] };
  }
  throw new Error(`unknown script kind ${kind}`);
}
const DELTAS = [
  "The",
  " system",
  " reads",
  " a",
  " token",
  ",",
  " then",
  " another",
  " one",
  ".",
  " It",
  " goes",
  " on",
  " for",
  " a",
  " while.",
];

/** Number of model requests a complete conversation takes. */
export function turnsOf(kind) {
  let m;
  if ((m = /^tools-(\d+)$/.exec(kind))) return +m[1] + 1;
  if ((m = /^fan-(\d+)x(\d+)$/.exec(kind))) return +m[2] + 1;
  return 1;
}

/** Chat-completions chunk objects for one turn. */
export function* chunksOf(kind, k) {
  const { text, calls } = turnOf(kind, k);
  const base = {
    id: `cmpl_${kind}_${k}`,
    object: "chat.completion.chunk",
    created: 1700000000,
    model: "bench",
  };
  const wrap = (delta, finish = null) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  yield wrap({ role: "assistant", content: "" });
  for (const t of text) yield wrap({ content: t });
  for (let i = 0; i < calls.length; i++) {
    const c = calls[i];
    yield wrap({
      tool_calls: [{
        index: i,
        id: c.id,
        type: "function",
        function: { name: c.name, arguments: "" },
      }],
    });
    const cut = c.args.length >> 1;
    yield wrap({
      tool_calls: [{ index: i, function: { arguments: c.args.slice(0, cut) } }],
    });
    yield wrap({
      tool_calls: [{ index: i, function: { arguments: c.args.slice(cut) } }],
    });
  }
  yield wrap({}, calls.length ? "tool_calls" : "stop");
  yield {
    ...base,
    choices: [],
    usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
  };
}

/** In-process model script: next() gives the following turn of the conversation. */
export class FakeScript {
  constructor(kind) {
    this.kind = kind;
    this.k = 0;
  }
  next() {
    const id = this.k;
    const t = turnCache(this.kind, id);
    this.k++;
    return {
      id: `cmpl_${this.kind}_${id}`,
      text: t.text,
      calls: t.calls,
      usage: { prompt: 100, completion: 20, total: 120 },
    };
  }
}
const cache = new Map();
function turnCache(kind, k) {
  const key = `${kind}|${k}`;
  let t = cache.get(key);
  if (!t) cache.set(key, t = turnOf(kind, k));
  return t;
}
export function warmScript(kind) {
  for (let k = 0; k < turnsOf(kind); k++) turnCache(kind, k);
}

/** Neutral prior conversation (chat-completions shape): plain user/assistant pairs. */
export function priorMessages(count, salt = "") {
  const out = [];
  for (let i = 0; i < count; i++) {
    const text = `${salt}message ${i}: ${PAD}; ${PAD}.`;
    out.push(
      i % 2 === 0
        ? { role: "user", content: text }
        : { role: "assistant", content: text },
    );
  }
  return out;
}
