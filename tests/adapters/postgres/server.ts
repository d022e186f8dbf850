import { spawn, type SpawnOptions, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { getuid } from "node:process";
import type { SqlClient } from "../../../adapters/postgres/mod.ts";
import { runtime } from "../../support/runtime.ts";

/** A PostgreSQL server that was started for the tests. */
export interface PostgresServer {
  /** The directory of its socket. */
  readonly directory: string;
  /** Ends it and removes what it kept. */
  stop(): Promise<void>;
}

/** Where the programs of the server are on Debian; null if there is none. */
export const serverPrograms: string | null = findPrograms();

/** Starts a server on a socket of its own. */
export async function startServer(): Promise<PostgresServer> {
  const directory = await mkdtemp(`${tmpdir()}/ejagent-pg-`);
  const account = serverAccount();
  if (account.uid !== undefined) {
    await chown(directory, account.uid, account.gid!);
  }
  const data = `${directory}/data`;
  await finish(
    "initdb",
    ["-D", data, "-U", "postgres", "-A", "trust"],
    account,
  );
  await finish("pg_ctl", [
    ...["-D", data, "-w", "-l", `${directory}/log`],
    ...["-o", `-k ${directory} -c listen_addresses=''`],
    "start",
  ], account);
  return {
    directory,
    async stop() {
      await finish("pg_ctl", ["-D", data, "-m", "fast", "-w", "stop"], account);
      await rm(directory, { recursive: true });
    },
  };
}

/** Connections to a server. */
export interface Connections {
  readonly client: SqlClient;
  /** Closes them. */
  end(): Promise<void>;
}

/** How strictly transactions are kept apart. */
export type Isolation = "read committed" | "repeatable read" | "serializable";

/** Connects to a server. @param directory That of its socket. */
export async function connectTo(
  directory: string,
  isolation: Isolation = "read committed",
): Promise<Connections> {
  // A variable, so that no bundler takes the client into the Worker, where it cannot be loaded.
  const specifier = "postgres";
  const { default: postgres }: { default: typeof import("postgres") } =
    await import(specifier);
  const sql = postgres({
    host: directory,
    username: "postgres",
    max: 20,
    onnotice() {},
    connection: { default_transaction_isolation: isolation },
  });
  return {
    client: {
      query: async (text, values) => ({
        rows: await sql.unsafe(text, values as never[]),
      }),
    },
    end: () => sql.end(),
  };
}

interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

/** The server refuses to run as root, and then runs as the account that its package made. */
function serverAccount(): Account {
  if (getuid?.() !== 0) return {};
  const id = (option: string) =>
    Number(spawnSync("id", [option, "postgres"]).stdout.toString());
  return { uid: id("-u"), gid: id("-g") };
}

function finish(
  program: string,
  args: readonly string[],
  account: Account,
): Promise<void> {
  const options: SpawnOptions = { ...account, cwd: "/", stdio: "ignore" };
  const child = spawn(`${serverPrograms}/${program}`, args, options);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${program} ended with code ${code}`));
    });
  });
}

function findPrograms(): string | null {
  const root = "/usr/lib/postgresql";
  if (runtime === "workerd" || !existsSync(root)) return null;
  const [version] = readdirSync(root).sort((a, b) => Number(b) - Number(a));
  return version === undefined ? null : `${root}/${version}/bin`;
}
