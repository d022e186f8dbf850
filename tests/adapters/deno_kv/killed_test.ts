import { DenoKvJournal } from "../../../adapters/deno_kv/kv_journal.ts";
import { assertOutlivesKills } from "../../faults/killed_writers.ts";
import { inDirectory, startProgram } from "../../faults/processes.ts";
import { test } from "../../support/suite.ts";

const program = "tests/adapters/deno_kv/writer_program.ts";
// Such a line has parts, and more of them than fit into one commit.
const longLength = 900_000;

test(
  "writers to a file of Deno KV, killed in the middle of appends, lose nothing that was acknowledged",
  { case: "B69", runtimes: ["deno"], timeoutMs: 600_000 },
  () =>
    inDirectory(async (directory) => {
      const file = `${directory}/sessions.db`;
      let kv: Deno.Kv | undefined;
      await assertOutlivesKills({
        lines: { longLength },
        start: () => startProgram(program, file, String(longLength)),
        async open() {
          kv = await Deno.openKv(file);
          return new DenoKvJournal(kv);
        },
        async close() {
          await Promise.resolve(kv?.close());
        },
      });
    }),
);
