// Prints what was measured: each cell as it comes, and the targets of all result files.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runtimes } from "./runtimes.mjs";
import { formatNumber } from "./stats.mjs";
import { targets } from "./targets.mjs";

/** One cell, the fastest driver first. */
export function printCell(workload, id, cell, drivers) {
  const { main, unit, summary } = cell;
  const isFloor = (name) => drivers.find((d) => d.name === name)?.floor;
  const rows = Object.entries(summary)
    .filter(([, figures]) => figures[main])
    .map(([name, figures]) => ({ name, ...figures[main] }))
    .sort((a, b) => a.median - b.median);
  const floor = summary["floor-fetch"]?.[main]?.median;
  const best = rows.find(({ name }) => !isFloor(name))?.median;
  console.log(`\n${workload} ${id} (${main}, ${unit}; median [p25..p75])`);
  for (const { name, median, p25, p75 } of rows) {
    const columns = [
      name.padEnd(16),
      formatNumber(median).padStart(9),
      `[${formatNumber(p25)}..${formatNumber(p75)}]`.padEnd(20),
      `x floor-fetch ${times(median, floor)}`.padEnd(21),
      `x fastest ${times(median, best)}`,
    ];
    console.log(`  ${columns.join(" ")}`);
  }
}

/** The table of targets, as Markdown: ours, the best peer's, and the limit. */
export function printReport(folder) {
  for (const runtime of Object.keys(runtimes)) {
    const file = join(folder, `results-${runtime}.json`);
    if (existsSync(file)) print(JSON.parse(readFileSync(file, "utf8")));
  }
}

function print(result) {
  const { runtime, version, cores, cpu, date } = result;
  console.log(
    `### ${runtime}\n\n${version}; ${cores} cores, ${cpu}; ${date}\n`,
  );
  console.log("| figure | ours | best peer | target | holds |");
  console.log("|---|---:|---:|---:|---|");
  for (const target of targets) {
    const { title, unit, limit: { [runtime]: limit } } = target;
    const ours = relative(target, result, "ejagent");
    if (limit === undefined || ours === undefined) continue;
    const cells = [
      unit ? `${title}, ${unit}` : title,
      formatNumber(ours),
      bestPeer(target, result),
      `<= ${limit}`,
      ours <= limit ? "yes" : "**no**",
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
  const transport = openAITransport(result);
  if (transport !== null) console.log(`\n${transport}`);
  console.log("");
}

function bestPeer(target, result) {
  const [best] = Object.values(result.drivers)
    .filter(({ name, floor }) => !floor && !name.startsWith("ejagent"))
    .map(({ name }) => ({ name, value: relative(target, result, name) }))
    .filter(({ value }) => value !== undefined)
    .sort((a, b) => a.value - b.value);
  return best ? `${best.name} ${formatNumber(best.value)}` : "-";
}

/** A figure as it is compared with its limit: a multiple of the floor, or as it is. */
function relative({ unit, value }, result, driver) {
  const own = value(result, driver);
  const compared = unit === undefined
    ? own / value(result, "floor-fetch")
    : own;
  return Number.isFinite(compared) ? compared : undefined;
}

function openAITransport({ workloads: { W1 } }) {
  const ratios = [10, 100, 400].map((n) => {
    const summary = W1?.[`http N=${n}`]?.summary;
    const cpu = (driver) => summary?.[driver]?.cpuPerTurn?.median;
    return cpu("ejagent-openai") / cpu("floor-openai-raw");
  });
  if (!ratios.every(Number.isFinite)) return null;
  const list = ratios.map((ratio) => ratio.toFixed(2)).join(" / ");
  return `Over the openai transport, W1 N=10 / 100 / 400 take ${list} of floor-openai-raw (target 1.15).`;
}

function times(value, base) {
  return base ? (value / base).toFixed(2) : "-";
}
