import type {
  AgentEvent,
  ContextProvider,
  ContextRun,
  Middleware,
  RunOutcome,
} from "../../mod.ts";

/** Middleware that writes `name>` and `name<` with the letter of each layer that it has. */
export function tracing(
  name: string,
  log: string[],
  layers: string = "r",
): Middleware {
  return {
    name,
    ...(layers.includes("r") && {
      async *aroundRun(request, next) {
        log.push(`${name}>r`);
        const result = yield* next(request);
        log.push(`${name}<r`);
        return result;
      },
    } satisfies Middleware),
    ...(layers.includes("m") && {
      async *aroundModel(request, next) {
        log.push(`${name}>m`);
        const response = yield* next(request);
        log.push(`${name}<m`);
        return response;
      },
    } satisfies Middleware),
    ...(layers.includes("t") && {
      async aroundTool(context, next) {
        log.push(`${name}>t`);
        const outcome = await next(context);
        log.push(`${name}<t`);
        return outcome;
      },
    } satisfies Middleware),
  };
}

/** What a {@linkcode provider} does. */
export interface ProviderParts {
  readonly before?: (run: ContextRun) => void | Promise<void>;
  readonly after?: (
    run: ContextRun,
    outcome: RunOutcome,
  ) => void | Promise<void>;
}

/** A context provider that logs `id+` before and `id-:<status>` after a run. */
export function provider(
  sourceId: string,
  log: string[],
  parts: ProviderParts = {},
): ContextProvider {
  return {
    sourceId,
    async beforeRun(run) {
      log.push(`${sourceId}+`);
      await parts.before?.(run);
    },
    async afterRun(run, outcome) {
      log.push(`${sourceId}-:${outcome.result.status}`);
      await parts.after?.(run, outcome);
    },
  };
}

/** Reads a stream to its end. */
export async function kindsOf(
  stream: AsyncIterable<AgentEvent>,
): Promise<string[]> {
  const kinds: string[] = [];
  for await (const event of stream) kinds.push(event.kind);
  return kinds;
}
