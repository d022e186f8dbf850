// One measurement in a fresh process: `child.mjs '<json spec>'`, answer on stdout as one "@@RESULT {...}" line.
import * as S from "./script.mjs";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const spec = JSON.parse(process.argv[2]);
const drv = await import(pathToFileURL(spec.driver).href);
const base = spec.base;
let seq = 0;
const runId = () => `${spec.tag}-${seq++}`;
const now = () => performance.now();
const gc = globalThis.gc ??
  (globalThis.Bun ? () => globalThis.Bun.gc(true) : null);

// cpuUsage in ms; Deno and Bun both provide it through node compatibility.
const cpu = () => {
  const c = process.cpuUsage();
  return (c.user + c.system) / 1000;
};

const tool = (execute) => ({
  name: S.TOOL_NAME,
  description: "Returns one fixed line for step n.",
  parameters: S.TOOL_PARAMETERS,
  execute,
});

function agentFor(
  kind,
  {
    mode = "m",
    model = "http",
    execute,
    history,
    persist,
    id = runId(),
    shared,
  } = {},
) {
  const counter = { deltas: 0, chars: 0, marks: [] };
  const exec = execute ?? ((args) => {
    counter.marks.push(now());
    return S.toolResult(args.n);
  });
  const o = {
    baseURL: `${base}/${mode}/${kind}/${id}/v1`,
    system: S.SYSTEM,
    maxTurns: 100_000,
    tool: shared ?? tool(exec),
    history,
    persist,
    fake: model === "fake" ? new S.FakeScript(kind) : undefined,
  };
  const agent = drv.create(o);
  const onDelta = (s) => {
    counter.deltas++;
    counter.chars += s.length;
  };
  return {
    agent,
    o,
    id,
    counter,
    run: (input = S.PROMPT) => agent.run(input, onDelta),
  };
}
const stat = async (id) => (await fetch(`${base}/stat/${id}`)).json();

async function timed(fn) {
  const c0 = cpu();
  const t0 = now();
  const value = await fn();
  const wall = now() - t0;
  return { wall, cpu: cpu() - c0, value, t0 };
}
async function prepare(o = {}) {
  if (drv.prepare) await drv.prepare(o);
}

async function warm(model, turns = 30, times = 3) {
  for (let i = 0; i < times; i++) {
    const a = agentFor(`tools-${turns}`, { model });
    await a.run();
    await a.agent.close();
  }
}
function dirBytes(dir) {
  let n = 0;
  let files = 0;
  for (const e of readdirSync(dir, { withFileTypes: true })) {
    const p = join(dir, e.name);
    if (e.isDirectory()) {
      const r = dirBytes(p);
      n += r.bytes;
      files += r.files;
    } else {
      n += statSync(p).size;
      files++;
    }
  }
  return { bytes: n, files };
}
const writtenBytes = async () => {
  // wchar counts bytes handed to write(2) by this process (sockets included), write_bytes what reached the block layer.
  try {
    const t = (await import("node:fs")).readFileSync("/proc/self/io", "utf8");
    return +/wchar: (\d+)/.exec(t)[1];
  } catch {
    return NaN;
  }
};

const ops = {
  // Correctness gate: the server parses every body and checks the full history of each request.
  async verify() {
    const out = {};
    for (const kind of ["tools-3", "fan-4x2", "text-50", "plain"]) {
      const history = kind === "plain"
        ? drv.toNative(S.priorMessages(6))
        : undefined;
      const a = agentFor(kind, { mode: "v", history });
      const r = await a.run();
      const st = await stat(a.id);
      const errors = [...st.errors];
      const want = kind === "text-50"
        ? S.turnOf(kind, 0).text.join("")
        : "All steps are done.";
      if (r.text !== want) {
        errors.push(
          `final text ${JSON.stringify(String(r.text).slice(0, 80))}`,
        );
      }
      if (st.requests !== S.turnsOf(kind)) {
        errors.push(`${st.requests} requests`);
      }
      if (kind === "text-50" && a.counter.deltas !== 50) {
        errors.push(`${a.counter.deltas} deltas`);
      }
      if (kind === "plain" && st.plainMessages !== 7) {
        errors.push(`${st.plainMessages} messages sent`);
      }
      if (kind === "tools-3") {
        await a.run("again");
        const s2 = await stat(a.id);
        if (s2.requests !== 5) {
          errors.push(`second run made ${s2.requests - 4} requests`);
        }
        errors.push(...s2.errors.slice(st.errors.length));
      }
      await a.agent.close();
      out[kind] = errors;
    }
    if (drv.info.fake) {
      for (const kind of ["tools-3", "text-50"]) {
        const a = agentFor(kind, { model: "fake" });
        const r = await a.run();
        const errors = [];
        if (
          r.text !==
            (kind === "text-50"
              ? S.turnOf(kind, 0).text.join("")
              : "All steps are done.")
        ) errors.push(`final text ${r.text}`);
        if (kind === "text-50" && a.counter.deltas !== 50) {
          errors.push(`${a.counter.deltas} deltas`);
        }
        if (kind === "tools-3" && a.counter.marks.length !== 3) {
          errors.push(`${a.counter.marks.length} tool calls`);
        }
        out[`fake ${kind}`] = errors;
      }
    }
    return out;
  },

  async W1({ n, model, inner = 1 }) {
    const kind = `tools-${n}`;
    S.warmScript(kind);
    await warm(model);
    gc?.();
    let wall = 0;
    let cpuMs = 0;
    let marks;
    let st;
    let t0;
    for (let i = 0; i < inner; i++) {
      const a = agentFor(kind, { model });
      const r = await timed(() => a.run());
      if (a.counter.marks.length !== n) {
        throw new Error(`${a.counter.marks.length} tool calls, wanted ${n}`);
      }
      wall += r.wall;
      cpuMs += r.cpu;
      marks = a.counter.marks;
      t0 = r.t0;
      if (model === "http") st = await stat(a.id);
      await a.agent.close();
    }
    // per-turn gaps of the last inner run, as means over ten equal stretches
    const gaps = [];
    for (let i = 1; i < marks.length; i++) gaps.push(marks[i] - marks[i - 1]);
    const bins = [];
    for (let b = 0; b < 10; b++) {
      const s = gaps.slice(
        Math.floor(b * gaps.length / 10),
        Math.floor((b + 1) * gaps.length / 10),
      );
      bins.push(s.length ? s.reduce((x, y) => x + y, 0) / s.length : null);
    }
    return {
      wallMs: wall / inner,
      cpuMs: cpuMs / inner,
      wallPerTurn: wall / inner / (n + 1),
      cpuPerTurn: cpuMs / inner / (n + 1),
      bins,
      bytesSent: st?.bytesIn,
      sockets: st?.sockets,
    };
  },

  async W2({ deltas = 20_000, model = "http", mode = "m" }) {
    const kind = `text-${deltas}`;
    S.warmScript(kind);
    for (let i = 0; i < 2; i++) {
      const a = agentFor("text-2000", { model, mode });
      await a.run();
      await a.agent.close();
    }
    gc?.();
    const a = agentFor(kind, { model, mode });
    const r = await timed(() => a.run());
    if (a.counter.deltas !== deltas) {
      throw new Error(`${a.counter.deltas} deltas, wanted ${deltas}`);
    }
    await a.agent.close();
    return {
      wallMs: r.wall,
      cpuMs: r.cpu,
      eventsPerSec: deltas / (r.wall / 1000),
      cpuUsPerDelta: (r.cpu * 1000) / deltas,
    };
  },

  async W3({ width = 64, turns = 1, sleep = 20, model = "http" }) {
    const wait = () => new Promise((r) => setTimeout(r, sleep));
    let live = 0;
    let peak = 0;
    let done = 0;
    const execute = async (args) => {
      live++;
      if (live > peak) peak = live;
      await wait();
      live--;
      done++;
      return S.toolResult(args.n);
    };
    {
      const a = agentFor("fan-4x2", {
        model,
        execute: (args) => S.toolResult(args.n),
      });
      await a.run();
      await a.agent.close();
    }
    await warm(model, 10, 2);
    {
      const a = agentFor(`fan-${width}x1`, {
        model,
        execute: (args) => S.toolResult(args.n),
      });
      await a.run();
      await a.agent.close();
    }
    const a = agentFor(`fan-${width}x${turns}`, { model, execute });
    const r = await timed(() => a.run());
    await a.agent.close();
    if (done !== width * turns) throw new Error(`${done} tool calls`);
    return {
      wallMs: r.wall,
      cpuMs: r.cpu,
      overheadMs: r.wall - sleep * turns,
      peakParallel: peak,
    };
  },

  async W4({ prior = 5000, model = "http" }) {
    await warm(model, 10, 3);
    const history = drv.toNative(S.priorMessages(prior));
    gc?.();
    let a;
    const first = await timed(async () => {
      a = agentFor("plain", { model, history });
      return a.run();
    });
    const second = await timed(() => a.run("next"));
    const st = model === "http" ? await stat(a.id) : null;
    await a.agent.close();
    return {
      wallMs: first.wall,
      cpuMs: first.cpu,
      secondWallMs: second.wall,
      secondCpuMs: second.cpu,
      bytesSent: st?.lastBytes,
    };
  },

  async W6rss({ n = 400, model = "http" }) {
    const a = agentFor(`tools-${n}`, { model });
    await a.run();
    await a.agent.close();
    const peakRssMb = process.resourceUsage().maxRSS / 1024;
    return { peakRssMb, heapUsedMb: process.memoryUsage().heapUsed / 1048576 };
  },

  async W6idle({ agents = 200, messages = 50 }) {
    await warm("http", 10, 2);
    {
      const a = agentFor("plain", {
        history: drv.toNative(S.priorMessages(messages - 2)),
      });
      await a.run();
    }
    const settle = async () => {
      for (let i = 0; i < 4; i++) {
        gc();
        await new Promise((r) => setTimeout(r, 30));
      }
    };
    await settle();
    const m0 = process.memoryUsage();
    const held = [];
    const shared = tool((args) => S.toolResult(args.n)); // tools are usually module constants, so all agents share one
    for (let i = 0; i < agents; i++) {
      // every message text is a separate flat string, as it would be after a read from disk
      const neutral = JSON.parse(
        JSON.stringify(S.priorMessages(messages - 2, `a${i} `)),
      );
      held.push(agentFor("plain", { shared, history: drv.toNative(neutral) }));
    }
    for (const h of held) await h.run();
    await settle();
    const m1 = process.memoryUsage();
    const count = held.reduce((s, h) => s + h.agent.count(), 0);
    return {
      heapKbPerAgent: (m1.heapUsed - m0.heapUsed) / 1024 / agents,
      externalKbPerAgent: (m1.external - m0.external) / 1024 / agents,
      rssMb: m1.rss / 1048576,
      messages: count,
    };
  },

  async W7({ n = 100, kind: persistKind, model = "http", dir }) {
    await prepare({ persist: { kind: persistKind } });
    await warm(model);
    gc?.();
    mkdirSync(dir, { recursive: true });
    // plain and persisted runs in the order P S | S P P S, the first pair only warms up; figures are means of two
    const plainRuns = [];
    const storedRuns = [];
    let headerBytes = 0;
    let written = 0;
    let a;
    let persist;
    let sub;
    for (
      const [i, step] of [
        "plain",
        "stored",
        "stored",
        "plain",
        "plain",
        "stored",
      ].entries()
    ) {
      if (step === "stored") {
        sub = join(dir, `run${i}`);
        mkdirSync(sub, { recursive: true });
        persist = { kind: persistKind, dir: sub, id: `conv${i}` };
      }
      a = agentFor(`tools-${n}`, {
        model,
        persist: step === "stored" ? persist : undefined,
      });
      gc?.();
      const b0 = await writtenBytes();
      const r = await timed(() => a.run());
      const b1 = await writtenBytes();
      const bytes = b1 - b0 -
        (model === "http" ? (await stat(a.id)).bytesIn : 0);
      await a.agent.close();
      if (step === "plain") headerBytes = bytes;
      else written = bytes; // request lines and headers are not storage
      if (i > 1) (step === "plain" ? plainRuns : storedRuns).push(r);
    }
    const mean = (xs, k) => xs.reduce((t, x) => t + x[k], 0) / xs.length;
    const p = { wall: mean(plainRuns, "wall"), cpu: mean(plainRuns, "cpu") };
    const r = { wall: mean(storedRuns, "wall"), cpu: mean(storedRuns, "cpu") };
    const disk = dirBytes(sub);
    // a fresh agent over the stored state
    const loads = [];
    let seen;
    for (let i = 0; i < 3; i++) {
      const l = await timed(() =>
        drv.reload({ ...a.o, fake: undefined, persist })
      );
      loads.push(l);
      seen = l.value;
    }
    return {
      wallPerTurn: r.wall / (n + 1),
      cpuPerTurn: r.cpu / (n + 1),
      plainWallPerTurn: p.wall / (n + 1),
      plainCpuPerTurn: p.cpu / (n + 1),
      diskBytes: disk.bytes,
      files: disk.files,
      writtenBytes: Math.max(0, written - headerBytes),
      bytesPerTurn: disk.bytes / (n + 1),
      reloadMs: loads[0].wall,
      reloadWarmMs: loads[2].wall,
      reloadedMessages: seen,
    };
  },

  async W8({ runs = 100, turns = 10, model = "http" }) {
    await warm(model);
    gc?.();
    const all = [];
    for (let i = 0; i < runs; i++) {
      all.push(agentFor(`tools-${turns}`, { model }));
    }
    const starts = new Array(runs);
    const ends = new Array(runs);
    const r = await timed(() =>
      Promise.all(all.map(async (a, i) => {
        starts[i] = now();
        await a.run();
        ends[i] = now();
      }))
    );
    const lat = [];
    all.forEach((a, i) => {
      const m = a.counter.marks;
      if (m.length !== turns) throw new Error(`${m.length} tool calls`);
      lat.push(m[0] - starts[i]);
      for (let k = 1; k < m.length; k++) lat.push(m[k] - m[k - 1]);
      lat.push(ends[i] - m[m.length - 1]);
    });
    lat.sort((x, y) => x - y);
    const q = (p) => lat[Math.min(lat.length - 1, Math.floor(p * lat.length))];
    for (const a of all) await a.agent.close();
    return {
      wallMs: r.wall,
      cpuMs: r.cpu,
      turnsPerSec: (runs * (turns + 1)) / (r.wall / 1000),
      p50Ms: q(0.5),
      p99Ms: q(0.99),
      maxMs: lat[lat.length - 1],
      rssMb: process.memoryUsage().rss / 1048576,
    };
  },
};

let line;
try {
  await prepare();
  const result = await ops[spec.op](spec.params ?? {});
  line = { ok: true, result };
} catch (e) {
  line = { ok: false, error: String(e?.stack ?? e).slice(0, 1500) };
}
await new Promise((r) =>
  process.stdout.write(`\n@@RESULT ${JSON.stringify(line)}\n`, r)
);
process.exit(0);
