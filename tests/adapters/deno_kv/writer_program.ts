/** `writer_program.ts FILE LENGTH`: appends to a journal in a file of Deno KV until it is killed. */
import { DenoKvJournal } from "../../../adapters/deno_kv/kv_journal.ts";
import { appendUntilKilled } from "../../faults/killed_writers.ts";

const [file, longLength] = Deno.args;
const journal = new DenoKvJournal(await Deno.openKv(file));
await appendUntilKilled(journal, { longLength: Number(longLength) });
