// What is measured: the cells of each workload, which `child.mjs` carries out.

const everyone = () => true;
const withScript = (driver) => driver.fake;

const turns = (model, n, inner) => ({
  id: `${model === "fake" ? "loop" : "http"} N=${n}`,
  op: "W1",
  params: { n, model, inner },
  only: model === "fake" ? withScript : everyone,
  main: "cpuPerTurn",
  unit: "ms/turn",
});
const deltas = (id, params, only = everyone) => ({
  id,
  op: "W2",
  params,
  only,
  main: "cpuUsPerDelta",
  unit: "us/delta",
});
const wall = (id, op, params, only = everyone) => ({
  id,
  op,
  params,
  only,
  main: "wallMs",
  unit: "ms",
});

const cells = {
  W1: [
    turns("http", 10, 10),
    turns("http", 100, 2),
    turns("http", 400, 1),
    turns("fake", 10, 20),
    turns("fake", 100, 4),
    turns("fake", 400, 1),
  ],
  W2: [
    deltas("http", { model: "http", mode: "m" }),
    deltas("http, one write per event", { model: "http", mode: "e" }),
    deltas("loop", { model: "fake" }, withScript),
  ],
  W3: [
    wall("1 turn", "W3", { turns: 1 }),
    wall("5 turns", "W3", { turns: 5 }),
  ],
  W4: [
    wall("http", "W4", { model: "http" }),
    wall("loop", "W4", { model: "fake" }, withScript),
  ],
  W6: [
    {
      id: "peak RSS, N=400",
      op: "W6rss",
      params: {},
      only: everyone,
      main: "peakRssMb",
      unit: "MB",
    },
    {
      id: "200 idle agents",
      op: "W6idle",
      params: {},
      only: everyone,
      main: "heapKbPerAgent",
      unit: "KB/agent",
    },
  ],
  W8: [wall("100 x 10", "W8", {})],
};

export const workloads = ["W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8"];

/** The cells of any workload but W5, each with the drivers that take part. */
export function cellsOf(workload, drivers) {
  if (workload === "W7") return persistenceCells(drivers);
  return cells[workload].map((cell) => ({
    ...cell,
    drivers: drivers.filter(cell.only),
  }));
}

function persistenceCells(drivers) {
  const kinds = new Set(drivers.flatMap(({ persist = [] }) => persist));
  return ["http", "fake"].flatMap((model) =>
    [...kinds].map((kind) => ({
      id: model === "http" ? kind : `${kind}, loop`,
      op: "W7",
      params: { kind, model },
      main: "cpuPerTurn",
      unit: "ms/turn",
      needsFolder: true,
      drivers: drivers.filter(({ persist, fake }) =>
        persist?.includes(kind) && (model === "http" || fake)
      ),
    }))
  );
}
