// W5: the time from the start of a process to its first request, and what has to be loaded for it.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleSizes } from "./bundle.mjs";
import { finished, newTag, quietEnvironment } from "./processes.mjs";
import { root } from "./runtimes.mjs";
import { formatNumber, shuffled } from "./stats.mjs";

const fromPackages = "process start to first request";
const fromOneFile = "bundled: process start to first request";

const reportItself = `
;const __cpu = process.cpuUsage();
process.stdout.write("\\n@@COLD " + JSON.stringify({
  cpu: (__cpu.user + __cpu.system) / 1000,
  rss: process.resourceUsage().maxRSS / 1024,
  out: String(globalThis.__out),
}) + "\\n", () => process.exit(0));
`;

/** Measures all drivers that have a minimal program; `sizes` only where bundles are made. */
export async function measureColdStarts(drivers, options) {
  const { runtime, bundled, reps, base, log } = options;
  const results = {};
  const sizes = {};
  const programs = [];
  const add = (driver, cell, suffix, text) => {
    const file = join(driver.dir, `.cold-${driver.name}${suffix}.mjs`);
    writeFileSync(file, text + reportItself);
    programs.push({ driver, cell, file });
    results[cell] ??= { unit: "ms", main: "coldMs", drivers: {} };
    results[cell].drivers[driver.name] = { samples: [], errors: [] };
  };
  try {
    for (const driver of drivers.filter(({ minimal }) => minimal)) {
      add(driver, fromPackages, "", driver.minimal);
      if (!bundled) continue;
      const modules = await loadedModules(runtime, programs.at(-1), base);
      const { code, ...bundle } = await bundleSizes(driver);
      sizes[driver.name] = { modules, bundle };
      if (code) add(driver, fromOneFile, ".bundle", code);
      log(`W5 sizes ${driver.name}: ${JSON.stringify(sizes[driver.name])}`);
    }
    // Once for the page cache.
    for (const program of programs) await startOnce(runtime, program, base);
    for (let rep = 1; rep <= reps; rep++) {
      for (const program of shuffled(programs, rep)) {
        const { driver, cell } = program;
        const { result, error } = await startOnce(runtime, program, base);
        const { samples, errors } = results[cell].drivers[driver.name];
        if (result) samples.push(result);
        else errors.push(error);
        const outcome = result ? formatNumber(result.coldMs) : error;
        log(`W5 ${cell} rep ${rep}/${reps} ${driver.name}: ${outcome}`);
      }
    }
  } finally {
    for (const { file } of programs) unlinkSync(file);
  }
  return { ...results, sizes };
}

async function startOnce(runtime, { driver, file }, base) {
  const id = newTag();
  const start = process.hrtime.bigint();
  const { out, errors } = await finished(
    spawn(runtime.command, [...runtime.cold, file], {
      cwd: driver.dir,
      env: {
        ...quietEnvironment,
        BENCH_BASE_URL: `${base}/m/plain/${id}/v1`,
      },
    }),
  );
  const end = process.hrtime.bigint();
  const seen = await (await fetch(`${base}/stat/${id}/drop`)).json();
  const report = out.split("@@COLD ")[1];
  if (report === undefined || !seen) return { error: errors.slice(-500) };
  const own = JSON.parse(report);
  if (!own.out.includes("All steps are done")) {
    return { error: `The answer was ${own.out}` };
  }
  return {
    result: {
      coldMs: Number(BigInt(seen.first) - start) / 1e6,
      totalMs: Number(end - start) / 1e6,
      cpuMs: own.cpu,
      rssMb: own.rss,
    },
  };
}

async function loadedModules(runtime, { driver, file }, base) {
  const counts = join(tmpdir(), `bench-count-${process.pid}.json`);
  await finished(
    spawn(
      runtime.command,
      ["--import", join(root, "lib/count-hooks.mjs"), file],
      {
        cwd: driver.dir,
        env: {
          ...quietEnvironment,
          BENCH_BASE_URL: `${base}/m/plain/${newTag()}/v1`,
          BENCH_COUNT_OUT: counts,
        },
      },
    ),
  );
  if (!existsSync(counts)) return null;
  const modules = JSON.parse(readFileSync(counts, "utf8"));
  unlinkSync(counts);
  return modules;
}
