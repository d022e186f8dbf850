// The processes of a run: the model server and one child per measurement.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { newestNode, root } from "./runtimes.mjs";

/** Nobody phones home while being timed. */
export const quietEnvironment = {
  ...process.env,
  MASTRA_TELEMETRY_DISABLED: "1",
  OPENAI_AGENTS_DISABLE_TRACING: "1",
  LANGSMITH_TRACING: "false",
  LANGCHAIN_TRACING_V2: "false",
  DO_NOT_TRACK: "1",
};

const longestMeasurementMs = 180_000;

let tagCount = 0;

/** A name for a conversation that the server has not seen yet. */
export function newTag() {
  return `r${process.pid}x${tagCount++}`;
}

/** Starts the model server; it ends with this process. */
export function startServer() {
  return new Promise((resolve, reject) => {
    const server = spawn(newestNode, [join(root, "lib/server.mjs")], {
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
    let text = "";
    server.stdout.on("data", (piece) => {
      text += piece;
      const port = /PORT (\d+)/.exec(text)?.[1];
      if (port === undefined) return;
      resolve({
        base: `http://127.0.0.1:${port}`,
        stop: () => server.disconnect(),
      });
    });
    server.on("error", reject);
  });
}

/** Runs one operation of `child.mjs` in a fresh process of the runtime under test. */
export async function measure(runtime, driver, { op, params, base }) {
  const spec = { driver: driver.file, base, tag: newTag(), op, params };
  const { code, out, errors } = await finished(
    spawn(
      runtime.command,
      [...runtime.flags, join(root, "lib/child.mjs"), JSON.stringify(spec)],
      { cwd: driver.dir, env: quietEnvironment },
    ),
  );
  const answer = out.split("@@RESULT ")[1];
  return answer === undefined
    ? { ok: false, error: `exit ${code}: ${(errors || out).slice(-600)}` }
    : JSON.parse(answer);
}

/** Waits for a process and collects what it wrote. */
export function finished(child) {
  return new Promise((resolve, reject) => {
    let out = "";
    let errors = "";
    const timer = setTimeout(() => child.kill("SIGKILL"), longestMeasurementMs);
    child.stdout.on("data", (piece) => out += piece);
    child.stderr.on("data", (piece) => errors += piece);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code, out, errors });
    });
  });
}
