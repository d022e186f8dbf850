#!/usr/bin/env node
// Measures agent loops side by side; README.md says how, and what the options are.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { measureColdStarts } from "./lib/cold_start.mjs";
import { findDrivers } from "./lib/drivers.mjs";
import { measure, startServer } from "./lib/processes.mjs";
import { printCell, printReport } from "./lib/report.mjs";
import { root, runtimes } from "./lib/runtimes.mjs";
import { formatNumber, shuffled, summarise } from "./lib/stats.mjs";
import { cellsOf, workloads } from "./lib/workloads.mjs";

const { values: options } = parseArgs({
  options: {
    workload: { type: "string", default: "all" },
    drivers: { type: "string", default: "all" },
    runtime: { type: "string", default: "node26" },
    reps: { type: "string", default: "5" },
    cells: { type: "string" },
    "driver-file": { type: "string" },
    out: { type: "string" },
    fresh: { type: "boolean" },
    verify: { type: "boolean" },
    "allow-unequal": { type: "boolean" },
    quiet: { type: "boolean" },
    report: { type: "boolean" },
  },
});

async function main() {
  const runtime = runtimes[options.runtime];
  if (runtime === undefined) {
    throw unknown("runtime", options.runtime, Object.keys(runtimes));
  }
  const all = await findDrivers(options["driver-file"]?.split(","));
  const wanted = chosen("driver", options.drivers, all.map(({ name }) => name));
  const picked = all.filter(({ name }) => wanted.includes(name));
  const server = await startServer();
  try {
    const results = new Results(runtime);
    const equal = await verified(picked, runtime, server.base, results);
    if (options.verify) return;
    results.setDrivers(equal);
    for (const workload of chosen("workload", options.workload, workloads)) {
      const setting = {
        runtime,
        base: server.base,
        reps: Number(options.reps),
      };
      const cells = workload === "W5"
        ? await measureColdStarts(equal, {
          ...setting,
          bundled: options.runtime === "node26",
          log,
        })
        : await measureCells(workload, equal, setting);
      results.add(workload, cells, all);
    }
  } finally {
    server.stop();
  }
}

/** Leaves out the drivers that do not do the same work. */
async function verified(drivers, runtime, base, results) {
  const equal = [];
  for (const driver of drivers) {
    const answer = await measure(runtime, driver, {
      op: "verify",
      params: {},
      base,
    });
    const wrong = answer.ok
      ? Object.entries(answer.result).filter(([, errors]) => errors.length > 0)
      : [["start", [answer.error]]];
    const same = wrong.length === 0;
    log(
      `verify ${driver.name}: ${
        same ? "same work" : `NOT EQUAL ${JSON.stringify(wrong).slice(0, 400)}`
      }`,
    );
    if (same || options["allow-unequal"]) equal.push(driver);
    else results.exclude(driver.name, wrong);
  }
  return equal;
}

async function measureCells(workload, drivers, { runtime, base, reps }) {
  const only = options.cells?.split("|");
  const cells = cellsOf(workload, drivers)
    .filter(({ id, drivers }) =>
      drivers.length > 0 && (only?.includes(id) ?? true)
    );
  const results = Object.fromEntries(
    cells.map(({ id, unit, main, drivers }) => [id, {
      unit,
      main,
      drivers: Object.fromEntries(
        drivers.map(({ name }) => [name, { samples: [], errors: [] }]),
      ),
    }]),
  );
  for (let rep = 1; rep <= reps; rep++) {
    for (const cell of cells) {
      // In a new order each time, so that drift hits all alike.
      for (const driver of shuffled(cell.drivers, rep)) {
        const answer = await measureCell(runtime, driver, cell, base);
        const { samples, errors } = results[cell.id].drivers[driver.name];
        if (answer.ok) samples.push(answer.result);
        else errors.push(answer.error);
        const outcome = answer.ok
          ? `${cell.main}=${formatNumber(answer.result[cell.main])}`
          : `FAILED ${answer.error.slice(0, 200)}`;
        log(
          `${workload} ${cell.id} rep ${rep}/${reps} ${driver.name}: ${outcome} (load ${
            loadavg()[0].toFixed(1)
          })`,
        );
      }
    }
  }
  return results;
}

async function measureCell(runtime, driver, { op, params, needsFolder }, base) {
  if (!needsFolder) return await measure(runtime, driver, { op, params, base });
  const dir = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    return await measure(runtime, driver, {
      op,
      params: { ...params, dir },
      base,
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The result file: a run with some of the drivers replaces only their columns. */
class Results {
  #file = resolve(root, options.out ?? `results-${options.runtime}.json`);
  #kept = existsSync(this.#file) && !options.fresh
    ? JSON.parse(readFileSync(this.#file, "utf8"))
    : { drivers: {}, workloads: {} };

  constructor({ command }) {
    const version = execFileSync(command, ["--version"], { encoding: "utf8" });
    Object.assign(this.#kept, {
      runtime: options.runtime,
      version: version.split("\n")[0].trim(),
      cpu: cpus()[0]?.model,
      cores: cpus().length,
      date: new Date().toISOString().slice(0, 10),
    });
  }

  setDrivers(drivers) {
    for (const { minimal: _, file: __, dir: ___, ...facts } of drivers) {
      this.#kept.drivers[facts.name] = facts;
      delete this.#kept.excluded?.[facts.name];
    }
  }

  exclude(name, reasons) {
    this.#kept.excluded = { ...this.#kept.excluded, [name]: reasons };
  }

  add(workload, { sizes, ...cells }, drivers) {
    const kept = (this.#kept.workloads[workload] ??= {});
    if (sizes !== undefined) kept.sizes = { ...kept.sizes, ...sizes };
    for (const [id, cell] of Object.entries(cells)) {
      cell.summary = summarise(cell);
      kept[id] = {
        ...cell,
        drivers: { ...kept[id]?.drivers, ...cell.drivers },
        summary: { ...kept[id]?.summary, ...cell.summary },
      };
      printCell(workload, id, cell, drivers);
    }
    writeFileSync(this.#file, JSON.stringify(this.#kept, null, 1));
  }
}

/** The members of a comma list, which all have to be known; all of them for "all". */
function chosen(kind, list, known) {
  if (list === "all") return known;
  const names = list.split(",");
  const stranger = names.find((name) => !known.includes(name));
  if (stranger !== undefined) throw unknown(kind, stranger, known);
  return names;
}

function unknown(kind, name, known) {
  return new Error(
    `There is no ${kind} ${name}; there are ${known.join(", ")}`,
  );
}

function log(line) {
  if (!options.quiet) console.error(line);
}

if (options.report) printReport(root);
else await main();
