import {
  abortReasonText,
  detach,
  followSignal,
  markDerived,
} from "../base/abort.ts";
import { EventQueue } from "../base/event_queue.ts";
import { frozenCopy } from "../base/freeze.ts";
import type { AgentEvent } from "../events/event.ts";
import type { AgentMessage } from "../messages/message.ts";
import { type AgentRunResult, runResult } from "../messages/result.ts";
import {
  type AgentRequest,
  type AgentStream,
  composeAgentLayers,
  requireResult,
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
  const ask = composeAgentLayers(
    core.agentLayers,
    (inner) => coreStream(parts, inner, cores),
  );
  operation.layered = true;
  const pumping = pump(ask(request), parts.observe);
  try {
    return await orAbandoned(pumping, operation, cores);
  } catch (error) {
    if (!operation.cancellation.aborted) throw error;
    return cancelledResult(operation);
  } finally {
    operation.layered = false;
    operation.closing = true;
  }
}

async function pump(
  stream: AgentStream,
  observe: ((event: AgentEvent) => void) | undefined,
): Promise<AgentRunResult> {
  for (;;) {
    const step = await stream.next();
    if (step.done) return requireResult(step.value);
    observe?.(step.value);
  }
}

/** Waits for the layers, but after an abort not longer than the grace and the core itself need. */
function orAbandoned(
  pumping: Promise<AgentRunResult>,
  operation: Operation,
  cores: ReadonlySet<Promise<unknown>>,
): Promise<AgentRunResult> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const forget = operation.cancellation.onExpired(async () => {
      await Promise.allSettled(cores);
      timer = setTimeout(() => resolve(cancelledResult(operation)), 0);
    });
    pumping.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      forget();
    });
  });
}

function cancelledResult(operation: Operation): AgentRunResult {
  return runResult({
    stopReason: "external_abort",
    error: abortReasonText(operation.cancellation.reason),
  });
}

/** The innermost stream: one core run, cancelled if its reader leaves early. */
async function* coreStream(
  parts: LayeredRunParts,
  request: AgentRequest,
  cores: Set<Promise<unknown>>,
): AgentStream {
  const { core, orchestrator, operation } = parts;
  const queue = new EventQueue<AgentEvent>();
  const narrowed = newCancellation(core.config);
  const unfollow = followSignal(
    request.signal,
    (reason) => narrowed.abort(reason),
  );
  markDerived(narrowed.signal, operation.cancellation.signal);
  operation.closing = false;
  const running = orchestrator.run(
    coreRequest(operation, request, {
      cancellation: narrowed,
      observe: (event) => queue.push(event),
    }),
  ).finally(() => {
    unfollow();
    narrowed.close();
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
      narrowed.abort("the run was closed by agent middleware");
      await running.catch(() => {});
    }
    cores.delete(running);
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
