/** The four runtimes that the suite runs on. */
export type Runtime = "deno" | "node" | "bun" | "workerd";

/** What a test may need beyond web standards. */
export type Ability = "files" | "processes" | "listen" | "environment" | "eval";

const everywhere: readonly Runtime[] = ["deno", "node", "bun", "workerd"];
const hosts: readonly Runtime[] = ["deno", "node", "bun"];

const runtimesByAbility: Record<Ability, readonly Runtime[]> = {
  files: hosts,
  processes: hosts,
  listen: hosts,
  environment: hosts,
  eval: hosts,
};

/** The runtime that executes this module. */
export const runtime: Runtime = detectRuntime();

/** True with `LONG=1` in the environment: tests that have a long variant run it. */
export const isLong: boolean = environmentOf(globalThis).LONG === "1";

/** The runtimes that offer every one of the abilities, for the `runtimes` option of a test. */
export function runtimesWith(
  ...abilities: readonly Ability[]
): readonly Runtime[] {
  return everywhere.filter((name) =>
    abilities.every((ability) => runtimesByAbility[ability].includes(name))
  );
}

function detectRuntime(): Runtime {
  const scope = globalThis as {
    Deno?: { version?: { deno?: string } };
    Bun?: unknown;
    navigator?: { userAgent?: string };
  };
  if (scope.Deno?.version?.deno) return "deno";
  if (scope.Bun) return "bun";
  // Node 20 has no navigator; workerd names itself there.
  if (scope.navigator?.userAgent === "Cloudflare-Workers") return "workerd";
  return "node";
}

function environmentOf(
  scope: { process?: { env?: Record<string, string | undefined> } },
): Record<string, string | undefined> {
  return scope.process?.env ?? {};
}
