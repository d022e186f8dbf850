/**
 * Runs a Worker of the tests: `workerd_program.ts <worker.ts> <directory>`.
 *
 * Prints one line of JSON with the address and the id of workerd's process, and runs until it is told
 * to stop by a line on its input. What the Worker keeps is kept in the directory.
 *
 * @module
 */

import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { build } from "esbuild";
import {
  Miniflare,
  type Request as OutsideRequest,
  Response as OutsideResponse,
} from "miniflare";
import { modelServer } from "../../../src/testing/model_server.ts";
import { text } from "../../../src/testing/steps.ts";

const [worker, directory] = process.argv.slice(-2);
const provider = modelServer(() => text("From outside"));
const miniflare = new Miniflare({
  modules: [{
    type: "ESModule",
    path: "worker.mjs",
    contents: await bundle(worker!),
  }],
  compatibilityDate: "2026-04-01",
  compatibilityFlags: [],
  durableObjects: { OBJECTS: { className: "TestObject", useSQLite: true } },
  durableObjectsPersist: `${directory}/objects`,
  kvNamespaces: ["KV"],
  kvPersist: `${directory}/kv`,
  r2Buckets: ["BUCKET"],
  async outboundService(request: OutsideRequest) {
    const answer = await provider.fetch(request.url, {
      method: request.method,
      headers: [...request.headers],
      body: await request.text(),
    });
    return new OutsideResponse(await answer.text(), {
      status: answer.status,
      headers: [...answer.headers],
    });
  },
});
const { href } = await miniflare.ready;
console.log(JSON.stringify({ url: href, processId: childNamed("workerd") }));

process.stdin.once("data", async () => {
  await miniflare.dispose();
  process.exit(0);
});

async function bundle(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [file],
    write: false,
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:workers"],
    keepNames: true,
  });
  return outputFiles[0]!.text;
}

/** The process of that name that this one has started. */
function childNamed(name: string): number {
  const isChild = (id: string): boolean => {
    try {
      const stat = readFileSync(`/proc/${id}/stat`, "utf8");
      return stat.includes(`(${name})`) &&
        stat.split(") ")[1]?.split(" ")[1] === String(process.pid);
    } catch {
      return false; // It has ended meanwhile.
    }
  };
  return Number(
    readdirSync("/proc").filter((id) => /^\d+$/.test(id)).find(isChild),
  );
}
