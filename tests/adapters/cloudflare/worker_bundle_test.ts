import { readWorkerBundle } from "../../../scripts/worker_bundle.ts";
import { inDirectory } from "../../faults/processes.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { test } from "../../support/suite.ts";
import { startAnyWorker } from "./workerd.ts";

// One runtime is enough to start workerd, which is where all of this happens.
const slow = { runtimes: ["deno"], timeoutMs: 180_000 } as const;

test(
  "a Worker with every package it needs starts without a flag and answers",
  slow,
  () =>
    inDirectory(async (directory) => {
      const path = `${directory}/worker.mjs`;
      await Deno.writeTextFile(path, (await readWorkerBundle()).code);
      const worker = await startAnyWorker(
        { path, className: "Chat" },
        directory,
      );
      try {
        const ask = async (path: string, body: string) =>
          await (await worker.fetch(path, { method: "POST", body })).text();
        assertEquals(await ask("", "Hello"), "From outside");
        assertMatch(
          await ask("", "Where is order 7?"),
          /^It says .*on its way/,
        );
        assertMatch(await ask("", "Where is order 0?"), /^It says .*number/);

        const task = JSON.stringify({ task: "Where is order 7?" });
        assertMatch(await ask("ada/run", task), /^event: tool_completed$/m);
        const history = await worker.fetch("ada/history");
        assertEquals((await history.json()).length, 4);
      } finally {
        await worker.stop();
      }
    }),
);
