/**
 * The adapter of the runtime at hand. A program for one runtime imports its
 * entry instead: `@ejagent/core/deno`, `@ejagent/core/node` or `@ejagent/core/bun`.
 *
 * @module
 */

type Adapter = Pick<
  typeof import("@ejagent/core/node"),
  "environment" | "JsonlSessionStorage" | "loadMcpConfig" | "serve"
>;

/** The environment and a server, whatever the runtime. */
export const platform: Adapter = await importAdapter();

function importAdapter(): Promise<Adapter> {
  if ("Deno" in globalThis) return import("@ejagent/core/deno");
  if ("Bun" in globalThis) return import("@ejagent/core/bun");
  return import("@ejagent/core/node");
}
