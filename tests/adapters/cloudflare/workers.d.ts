/** The part of `cloudflare:workers` that the tests use. */
export abstract class DurableObject<Env = unknown> {
  protected ctx: import("../../../adapters/cloudflare/mod.ts").ObjectState & {
    abort(reason?: string): void;
    readonly storage: { deleteAll(): Promise<void> };
  };
  protected env: Env;
  constructor(
    ctx: import("../../../adapters/cloudflare/mod.ts").ObjectState,
    env: Env,
  );
}
