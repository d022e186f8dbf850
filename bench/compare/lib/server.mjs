// Loopback OpenAI-compatible chat-completions server. Own process, no artificial latency,
// every response is serialised once and then reused.
//   POST /m/<kind>/<run>/v1/chat/completions        scripted answer; request k of <run> gets turn k
//   POST /v/<kind>/<run>/v1/chat/completions        same, but the body is parsed and the history is checked
//   POST /e/<kind>/<run>/v1/chat/completions        same, one socket write per SSE event
//   GET  /stat/<run>[/drop]                         counters for a run, optionally forgetting it
import http from "node:http";
import { chunksOf, turnOf, turnsOf } from "./script.mjs";

const bodies = new Map(); // kind|k -> { blocks: Buffer[], events: Buffer[] }
const BLOCK = 16 * 1024;
function bodyOf(kind, k) {
  const key = `${kind}|${k}`;
  let b = bodies.get(key);
  if (b) return b;
  const events = [];
  for (const c of chunksOf(kind, k)) {
    events.push(Buffer.from(`data: ${JSON.stringify(c)}\n\n`));
  }
  events.push(Buffer.from("data: [DONE]\n\n"));
  const all = Buffer.concat(events);
  const blocks = [];
  for (let o = 0; o < all.length; o += BLOCK) {
    blocks.push(all.subarray(o, o + BLOCK));
  }
  bodies.set(key, b = { blocks, events });
  return b;
}

const runs = new Map();
const runOf = (id) => {
  let r = runs.get(id);
  if (!r) {
    runs.set(
      id,
      r = {
        requests: 0,
        bytesIn: 0,
        lastBytes: 0,
        first: 0,
        errors: [],
        sockets: new Set(),
        done: [],
      },
    );
  }
  return r;
};
const now = () => process.hrtime.bigint();
const HEAD = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
};

function textOf(c) {
  if (typeof c === "string") return c;
  if (Array.isArray(c)) return c.map((p) => p.text ?? "").join("");
  return c == null ? "" : String(c);
}

// Checks that request k carries the whole conversation so far, in order.
function check(kind, k, body, run) {
  const bad = (m) => run.errors.push(`request ${k}: ${m}`);
  if (body.stream !== true) bad("not a streaming request");
  if (!Array.isArray(body.tools) || body.tools.length < 1) bad("no tools sent");
  else if (body.tools[0].function?.name !== "probe") {
    bad(`tool is ${JSON.stringify(body.tools[0]).slice(0, 80)}`);
  }
  const msgs = body.messages.filter((m) =>
    m.role !== "system" && m.role !== "developer"
  );
  if (msgs.length === body.messages.length) bad("no system message");
  if (kind === "plain") {
    run.plainMessages = msgs.length;
    return;
  }
  let i = 0;
  if (msgs[i]?.role !== "user") bad(`first is ${msgs[i]?.role}`);
  i++;
  for (let t = 0; t < k; t++) {
    const want = turnOf(kind, t);
    const seen = [];
    let text = "";
    while (msgs[i]?.role === "assistant") {
      text += textOf(msgs[i].content);
      for (const c of msgs[i].tool_calls ?? []) seen.push(c);
      i++;
    }
    if (text !== want.text.join("")) {
      bad(`turn ${t} text is ${JSON.stringify(text.slice(0, 60))}`);
    }
    if (seen.length !== want.calls.length) {
      bad(`turn ${t} has ${seen.length} calls`);
    }
    for (const c of want.calls) {
      const hit = seen.find((s) => s.id === c.id);
      if (!hit) bad(`turn ${t} misses call ${c.id}`);
      else if (JSON.stringify(JSON.parse(hit.function.arguments)) !== c.args) {
        bad(`turn ${t} args ${hit.function.arguments}`);
      }
    }
    const results = [];
    while (msgs[i]?.role === "tool") results.push(msgs[i++]);
    if (results.length !== want.calls.length) {
      bad(`turn ${t} has ${results.length} tool results`);
    }
    for (const r of results) {
      if (!want.calls.some((c) => c.id === r.tool_call_id)) {
        bad(`turn ${t} stray result ${r.tool_call_id}`);
      }
      if (!textOf(r.content).includes("the quick brown fox")) {
        bad(`turn ${t} result text ${textOf(r.content).slice(0, 60)}`);
      }
    }
  }
  if (k >= turnsOf(kind) && msgs[i]?.role === "user") i++; // a follow-up run on the same agent
  if (i !== msgs.length) bad(`${msgs.length - i} extra messages at the end`);
}

const server = http.createServer((req, res) => {
  const parts = req.url.split("/");
  if (parts[1] === "stat") {
    const r = runs.get(parts[2]);
    if (parts[3] === "drop") runs.delete(parts[2]);
    res.setHeader("content-type", "application/json");
    res.end(
      JSON.stringify(
        r
          ? {
            ...r,
            sockets: r.sockets.size,
            first: String(r.first),
            done: r.done,
          }
          : null,
      ),
    );
    return;
  }
  if (parts[1] === "ping") return void res.end("ok");
  const mode = parts[1];
  const kind = parts[2];
  const run = runOf(parts[3]);
  const t0 = run.first ? 0n : now();
  if (!run.first) run.first = t0;
  let n = 0;
  let held = mode === "v" ? [] : null;
  req.on("data", (c) => {
    n += c.length;
    if (held) held.push(c);
  });
  req.on("end", () => {
    const k = run.requests++;
    run.bytesIn += n;
    run.lastBytes = n;
    run.sockets.add(req.socket);
    if (held) {
      try {
        check(kind, k, JSON.parse(Buffer.concat(held).toString("utf8")), run);
      } catch (e) {
        run.errors.push(`request ${k}: ${e.message}`);
      }
    }
    const turns = turnsOf(kind);
    const b = bodyOf(kind, turns === 1 ? 0 : Math.min(k, turns - 1));
    res.writeHead(200, HEAD);
    if (mode === "e") return void pumpEvents(res, b.events, 0);
    if (b.blocks.length === 1) return void res.end(b.blocks[0]);
    pump(res, b.blocks, 0);
  });
});
function pump(res, list, i) {
  while (i < list.length - 1) {
    if (!res.write(list[i++])) {
      return void res.once("drain", () => pump(res, list, i));
    }
  }
  res.end(list[i]);
}
function pumpEvents(res, list, i) {
  res.socket?.setNoDelay(true);
  while (i < list.length - 1) {
    const ok = res.write(list[i++]);
    if (!ok) return void res.once("drain", () => pumpEvents(res, list, i));
    if (i % 8 === 0) return void setImmediate(() => pumpEvents(res, list, i));
  }
  res.end(list[i]);
}
server.keepAliveTimeout = 600_000;
server.requestTimeout = 0;
server.headersTimeout = 0;
server.maxRequestsPerSocket = 0;
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`PORT ${server.address().port}\n`);
});
process.on("disconnect", () => process.exit(0));
