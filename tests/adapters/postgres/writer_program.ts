/**
 * `writer_program.ts server|pglite DIRECTORY LENGTH`: appends to a journal until it is killed, in a
 * server with its socket in the directory or in a database of its own there.
 */
import { argv } from "node:process";
import { PGlite } from "@electric-sql/pglite";
import {
  createPostgresTable,
  PostgresJournal,
} from "../../../adapters/postgres/mod.ts";
import { appendUntilKilled } from "../../faults/killed_writers.ts";
import { connectTo } from "./server.ts";

const [kind, directory, longLength] = argv.slice(-3) as [
  string,
  string,
  string,
];
const client = kind === "server"
  ? (await connectTo(directory)).client
  : await PGlite.create(directory);
await createPostgresTable(client);
await appendUntilKilled(new PostgresJournal(client), {
  longLength: Number(longLength),
});
