/** What the Worker uses of `cloudflare:workers`; in your project `wrangler types` declares all of it. */
export abstract class DurableObject<Env = unknown> {
  protected env: Env;
  constructor(
    ctx: import("@ejagent/core/cloudflare").ObjectState,
    env: Env,
  );
}
