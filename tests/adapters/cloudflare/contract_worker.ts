/** A Worker that checks the contracts inside Durable Objects. */

import { DurableObjectJournal } from "../../../adapters/cloudflare/sql_journal.ts";
import { DurableObjectSessionStorage } from "../../../adapters/cloudflare/session_storage.ts";
import type { ObjectSqlStorage } from "../../../adapters/cloudflare/storage_types.ts";
import { exportJournal, importJournal } from "../../../src/session/export.ts";
import type { JournalEntry } from "../../../src/session/journal.ts";
import type { ContractCase } from "../../../src/testing/contract.ts";
import { journalContract } from "../../../src/testing/journal_contract.ts";
import { linesOf } from "../../../src/testing/journal_subject.ts";
import { silentLogger } from "../../../src/testing/ports.ts";
import { storageContract } from "../../../src/testing/storage_contract.ts";
// @ts-types="./workers.d.ts"
import { DurableObject } from "cloudflare:workers";

/** What became of one case. */
export interface CaseReport {
  readonly name: string;
  /** Null if the promise is kept. */
  readonly error: string | null;
}

interface Env {
  readonly OBJECTS: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

export class TestObject extends DurableObject<Env> {
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const [, , action] = pathname.split("/");
    const { storage } = this.ctx;
    switch (action) {
      case "cases":
        return Response.json(
          casesOf(storage).map(({ name }) => name),
        );
      case "case": {
        const one = casesOf(storage)[Number(searchParams.get("index"))]!;
        return Response.json(await report(one));
      }
      case "append": {
        const entry = await request.json() as JournalEntry;
        const journal = new DurableObjectJournal(storage);
        return Response.json(await journal.append("s", entry));
      }
      case "lines": {
        const journal = new DurableObjectJournal(storage);
        const lines = await linesOf(journal, null, { sessionId: "s" });
        return Response.json(lines);
      }
      case "exchange": {
        const sessions = new DurableObjectSessionStorage(storage, {
          logger: silentLogger,
        });
        const { sessionId } = await importJournal(sessions, request.body!);
        return new Response(exportJournal(sessions, sessionId));
      }
      default:
        return new Response("Unknown action", { status: 404 });
    }
  }
}

export default {
  /** The first segment of the path names the object. */
  async fetch(request: Request, { OBJECTS }: Env): Promise<Response> {
    const name = new URL(request.url).pathname.split("/")[1]!;
    return await OBJECTS.get(OBJECTS.idFromName(name)).fetch(request);
  },
};

async function report({ name, run }: ContractCase): Promise<CaseReport> {
  try {
    await run();
    return { name, error: null };
  } catch (error) {
    return { name, error: error instanceof Error ? error.stack! : `${error}` };
  }
}

function casesOf(storage: ObjectSqlStorage): readonly ContractCase[] {
  const openStorage = () =>
    new DurableObjectSessionStorage(storage, { logger: silentLogger });
  return [
    ...journalContract(() => ({
      backend: new DurableObjectJournal(storage),
      reopen: () => new DurableObjectJournal(storage),
      dieWhileAppending: (sessionId, entry) => die(storage, sessionId, entry),
    })),
    ...storageContract(() => ({ storage: openStorage(), reopen: openStorage })),
  ];
}

/** Appends, and fails behind the last statement. */
async function die(
  storage: ObjectSqlStorage,
  sessionId: string,
  entry: JournalEntry,
): Promise<void> {
  const journal = new DurableObjectJournal({
    sql: storage.sql,
    transactionSync: (work) =>
      storage.transactionSync(() => {
        work();
        throw new Error("Killed");
      }),
  });
  await journal.append(sessionId, entry).catch(() => {});
}
