import { detach, followSignal, macrotask, markDerived } from "../base/abort.ts";
import { EventQueue } from "../base/event_queue.ts";
import { frozenCopy } from "../base/freeze.ts";
import type { AgentEvent } from "../events/event.ts";
import type { AgentMessage } from "../messages/message.ts";
import type { AgentRunResult } from "../messages/result.ts";
import { driveStream } from "../pipeline/drive.ts";
import { composeAgentLayers } from "../pipeline/layers.ts";
import {
  AgentPipelineError,
  type AgentRequest,
  type AgentStream,
} from "../pipeline/middleware.ts";
import type { CoreRequest } from "./active_run.ts";
import type { AgentCore } from "./core.ts";
import { newCancellation, type Operation } from "./operation.ts";
import type { AgentOrchestrator } from "./run.ts";

/** What takes a request through agent middleware to the core. */
export interface LayeredRunParts {
  /** The agent's shared parts. */
  readonly core: AgentCore;
  /** Runs what is inside all layers. */
  readonly orchestrator: AgentOrchestrator;
  /** The operation that all of it belongs to. */
  readonly operation: Operation;
  /** Gets the events that leave the outermost layer. */
  readonly observe: ((event: AgentEvent) => void) | undefined;
}

/**
 * Runs a request through the agent's middleware.
 *
 * The events of the core travel outwards through the layers; what the outermost
 * returns is the result.
 *
 * @throws What a layer threw, unless the operation is aborted by then.
 */
export async function layeredRun(
  parts: LayeredRunParts,
  request: AgentRequest,
): Promise<AgentRunResult> {
  const { core, operation } = parts;
  const cores = new Set<Promise<unknown>>();
  const end = new AbortController();
  const runs = { cores, end: end.signal, asked: false };
  const ask = composeAgentLayers(
    core.agentLayers,
    (inner) => coreStream(parts, inner, runs),
  );
  operation.layered = true;
  try {
    return await driveStream(() => ask(request), {
      cancellation: operation.cancellation,
      observe: parts.observe,
      inner: cores,
    });
  } finally {
    operation.layered = false;
    operation.closing = true;
    // A layer may have left a stream of next() open; no core run outlives the layers.
    end.abort(LEFT_EARLY);
    await Promise.allSettled(cores);
  }
}

const LEFT_EARLY = "the run was closed by agent middleware";

/** The core runs inside the layers of one operation. */
interface CoreRuns {
  /** Those that have not settled. */
  readonly cores: Set<Promise<unknown>>;
  /** Aborts when the layers have ended. */
  readonly end: AbortSignal;
  /** True after the first of them. */
  asked: boolean;
}

/** The innermost stream: one core run, cancelled if its reader leaves early. */
async function* coreStream(
  parts: LayeredRunParts,
  request: AgentRequest,
  runs: CoreRuns,
): AgentStream {
  const { core, orchestrator, operation } = parts;
  const { cores, end } = runs;
  // A layer that asks until it succeeds would let no timer end its grace.
  if (runs.asked) await macrotask();
  runs.asked = true;
  if (end.aborted) {
    throw new AgentPipelineError("next() was called after the run had ended");
  }
  const queue = new EventQueue<AgentEvent>();
  const narrowed = newCancellation(core.config);
  operation.closing = false;
  const narrow = (reason: unknown) => {
    narrowed.abort(reason);
    operation.closing = true;
  };
  // A layer may hand on a signal of its own.
  const outer = operation.cancellation.signal;
  const unfollow = [...new Set([outer, request.signal, end])].map((signal) =>
    followSignal(signal, narrow)
  );
  markDerived(narrowed.signal, outer);
  const running = orchestrator.run(
    coreRequest(operation, request, {
      cancellation: narrowed,
      observe: (event) => queue.push(event),
    }),
  ).finally(() => {
    for (const stop of unfollow) stop();
    narrowed.close();
    cores.delete(running);
    queue.end();
  });
  detach(running);
  cores.add(running);
  let finished = false;
  try {
    for (;;) {
      const step = await queue.next();
      if (step.done) break;
      yield step.value;
    }
    finished = true;
    return await running;
  } finally {
    if (!finished) {
      narrowed.abort(LEFT_EARLY);
      await running.catch(() => {});
    }
  }
}

/** The core's form of a request. */
export function coreRequest(
  operation: Operation,
  request: AgentRequest,
  parts: Pick<CoreRequest, "cancellation" | "observe">,
): CoreRequest {
  return {
    kind: request.kind,
    ...(request.task !== undefined && { task: request.task }),
    contextMessages: request.contextMessages.map(withSource),
    modelOptions: request.modelOptions,
    scope: request.scope,
    steering: operation.steering,
    onClosing: () => operation.closing = true,
    ...parts,
  };
}

// Messages of context providers name theirs; whatever else is here came from middleware.
function withSource(message: AgentMessage): AgentMessage {
  const source = message._ejagent_source ?? "middleware";
  return frozenCopy({ ...message, _ejagent_source: source });
}
