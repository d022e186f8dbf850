/**
 * Runs a Worker: `workerd_program.ts <worker> <class> <directory>`, the Worker as a module or as its
 * source, the class that of its Durable Objects.
 *
 * Prints one line of JSON with the address and the id of workerd's process, and runs until it is told
 * to stop by a line on its input. What the Worker keeps is kept in the directory.
 *
 * @module
 */

import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import {
  Miniflare,
  type Request as OutsideRequest,
  Response as OutsideResponse,
} from "miniflare";
import { bundleWorker } from "../../../scripts/worker_bundle.ts";
import { modelServer } from "../../../src/testing/model_server.ts";
import { answerFromOutside } from "./provider.ts";

const [worker, className, directory] = process.argv.slice(-3) as [
  string,
  string,
  string,
];
const provider = modelServer(answerFromOutside);
const miniflare = new Miniflare({
  modules: [{
    type: "ESModule",
    path: "worker.mjs",
    contents: worker.endsWith(".mjs")
      ? readFileSync(worker, "utf8")
      : (await bundleWorker(worker)).code,
  }],
  compatibilityDate: "2026-04-01",
  compatibilityFlags: [],
  bindings: {
    MODEL_API_KEY: "key",
    MODEL_URL: "http://provider.example/v1",
    CHAT_MODEL: "model",
  },
  durableObjects: { OBJECTS: { className, useSQLite: true } },
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
