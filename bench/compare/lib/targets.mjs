// What the figures are held against. A limit is a multiple of floor-fetch in the
// same run unless it is marked as absolute; limits are per Node, Deno and Bun.
import { exponent, line, median } from "./stats.mjs";

const limits = (onNode, onDeno, onBun) => ({
  node26: onNode,
  node20: onNode,
  deno: onDeno,
  bun: onBun,
});
const everywhere = (limit) => limits(limit, limit, limit);
const onlyNode = (limit) => limits(limit, undefined, undefined);

const cellFigure = (workload, cell, figure) => (result, driver) =>
  result.workloads[workload]?.[cell]?.summary[driver]?.[figure]?.median;

const ratio = (title, place, limit) => ({
  title,
  limit,
  value: cellFigure(...place),
});
const absolute = (title, unit, place, limit) => ({
  ...ratio(title, place, limit),
  unit,
});

export const targets = [
  ratio(
    "W1 N=10, CPU per turn",
    ["W1", "http N=10", "cpuPerTurn"],
    limits(1.25, 1.4, 2),
  ),
  ratio(
    "W1 N=400, CPU per turn",
    ["W1", "http N=400", "cpuPerTurn"],
    limits(1.15, 1.25, 1.6),
  ),
  absolute(
    "W1 N=400, loop only",
    "ms/turn",
    ["W1", "loop N=400", "cpuPerTurn"],
    { ...everywhere(0.06), node20: 0.1 },
  ),
  {
    title: "W1 exponent, loop only, N 10 to 400",
    unit: "",
    limit: everywhere(1.05),
    value: (result, driver) => growth(result, driver, [10, 100, 400]),
  },
  {
    title: "W1 exponent, loop only, N 100 to 400",
    unit: "",
    limit: everywhere(1.1),
    value: (result, driver) => growth(result, driver, [100, 400]),
  },
  {
    title: "W1 slope over HTTP",
    unit: "us per prior turn",
    limit: { ...limits(1.3, 1.1, 0.6), node20: 2.1 },
    value: slope,
  },
  ratio("W2 CPU per delta", ["W2", "http", "cpuUsPerDelta"], limits(2, 2.5, 3)),
  ratio(
    "W2 CPU per delta, one write per event",
    ["W2", "http, one write per event", "cpuUsPerDelta"],
    limits(2, 1.7, 2.5),
  ),
  absolute(
    "W2 loop only",
    "us/delta",
    ["W2", "loop", "cpuUsPerDelta"],
    limits(1, 0.8, 0.6),
  ),
  ratio(
    "W3 5 turns, wall above the sleeps",
    ["W3", "5 turns", "overheadMs"],
    limits(1.6, 1.6, 2),
  ),
  // Deno leaves Nagle's algorithm on, which can add 40 ms of waiting to a large request.
  ratio(
    "W4 first turn, wall",
    ["W4", "http", "wallMs"],
    limits(1.4, undefined, 1.6),
  ),
  ratio("W4 first turn, CPU", ["W4", "http", "cpuMs"], limits(1.4, 1.4, 1.6)),
  ratio(
    "W4 next turn, wall",
    ["W4", "http", "secondWallMs"],
    limits(1, undefined, 1.2),
  ),
  ratio(
    "W4 next turn, CPU",
    ["W4", "http", "secondCpuMs"],
    limits(1, 1, 1.2),
  ),
  absolute(
    "W4 loop only, first turn, CPU",
    "ms",
    ["W4", "loop", "cpuMs"],
    everywhere(0.4),
  ),
  absolute(
    "W4 loop only, next turn, CPU",
    "ms",
    ["W4", "loop", "secondCpuMs"],
    everywhere(0.4),
  ),
  ratio(
    "W5 to the first request",
    ["W5", "process start to first request", "coldMs"],
    limits(1.4, 1.6, 2.5),
  ),
  ratio(
    "W5 to the first request, bundled",
    ["W5", "bundled: process start to first request", "coldMs"],
    onlyNode(1.4),
  ),
  {
    title: "W5 bundle for browsers, min+gzip",
    unit: "kB",
    limit: onlyNode(30),
    value: (result, driver) =>
      result.workloads.W5?.sizes?.[driver]?.bundle.browser?.gzip / 1000,
  },
  ratio(
    "W6 peak RSS, N=400",
    ["W6", "peak RSS, N=400", "peakRssMb"],
    onlyNode(1.2),
  ),
  ratio(
    "W6 idle agent of 50 messages",
    ["W6", "200 idle agents", "heapKbPerAgent"],
    onlyNode(1.3),
  ),
  {
    title: "W7 journal, loop only: CPU added",
    unit: "us/turn",
    limit: onlyNode(30),
    value: (result, driver) => {
      const figure = (name) =>
        cellFigure("W7", "jsonl, loop", name)(result, driver);
      return (figure("cpuPerTurn") - figure("plainCpuPerTurn")) * 1000;
    },
  },
  {
    title: "W7 journal, loop only: on disk",
    unit: "kB",
    limit: onlyNode(45),
    value: (result, driver) =>
      cellFigure("W7", "jsonl, loop", "diskBytes")(result, driver) / 1000,
  },
  absolute(
    "W7 journal, loop only: reload",
    "ms",
    ["W7", "jsonl, loop", "reloadWarmMs"],
    onlyNode(0.8),
  ),
  ratio("W8 wall", ["W8", "100 x 10", "wallMs"], limits(1.4, 1.6, 2.5)),
  ratio("W8 p99 turn", ["W8", "100 x 10", "p99Ms"], limits(1.4, 1.6, 2.5)),
];

/** The exponent p of total CPU ~ N^p. */
function growth(result, driver, counts) {
  const total = (n) => cellFigure("W1", `loop N=${n}`, "cpuMs")(result, driver);
  const points = counts.map((n) => [n + 1, total(n)]);
  return points.every(([, cpu]) => cpu > 0) ? exponent(points) : undefined;
}

/** What each earlier turn adds to the wall time of one, in us. */
function slope(result, driver) {
  const samples = result.workloads.W1?.["http N=400"]?.drivers[driver]?.samples;
  if (!samples?.length) return undefined;
  const points = samples[0].bins.map((_, bin) => [
    (bin + 0.5) * 40,
    median(samples.map(({ bins }) => bins[bin])) * 1000,
  ]);
  return line(points).slope;
}
