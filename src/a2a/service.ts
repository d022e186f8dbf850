import { detach, followSignal } from "../base/abort.ts";
import { errorText } from "../base/errors.ts";
import { deepFreeze } from "../base/freeze.ts";
import { isJsonObject } from "../base/json.ts";
import type { AgentLike } from "../pipeline/agent_like.ts";
import { A2ARefusal } from "./errors.ts";
import { toTask } from "./parts.ts";
import { objectAt, readMessage, readTaskId } from "./read.ts";
import type { RpcAnswer, RpcRequest } from "./rpc.ts";
import { ServedRun, type ServedRunOptions } from "./served_run.ts";
import type { A2AMessage, A2ATask } from "./wire.ts";

/** What a service takes. */
export interface A2AServiceOptions extends ServedRunOptions {
  /** Finds the agent of a conversation. */
  readonly agentFor: (
    contextId: string,
    request: Request,
  ) => AgentLike | Promise<AgentLike>;
}

const unsupported = new Map<string, A2ARefusal["kind"]>([
  ["ListTasks", "unsupported_operation"],
  ["SubscribeToTask", "unsupported_operation"],
  ["CreateTaskPushNotificationConfig", "push_notification_not_supported"],
  ["GetTaskPushNotificationConfig", "push_notification_not_supported"],
  ["ListTaskPushNotificationConfigs", "push_notification_not_supported"],
  ["DeleteTaskPushNotificationConfig", "push_notification_not_supported"],
  ["GetExtendedAgentCard", "extended_agent_card_not_configured"],
]);

/** Answers the methods of the protocol with runs of agents. */
export class A2AService {
  readonly #options: A2AServiceOptions;
  readonly #running = new Map<string, ServedRun>();

  /** Serves nothing yet. */
  constructor(options: A2AServiceOptions) {
    this.#options = options;
  }

  /** Answers one call. @throws {A2ARefusal} The protocol has a code for what is wrong. */
  async serve(
    { method, params }: RpcRequest,
    request: Request,
  ): Promise<RpcAnswer> {
    switch (method) {
      case "SendMessage": {
        const run = await this.#begin(params, request);
        if (returnsAtOnce(params)) return { result: { task: run.task } };
        endWith(request, run);
        return { result: { task: await run.settled } };
      }
      case "SendStreamingMessage": {
        const run = await this.#begin(params, request);
        endWith(request, run);
        return { frames: run.frames, leave: () => leave(run) };
      }
      case "GetTask":
        return { result: await this.#find(checked(params, readTaskId)) };
      case "CancelTask":
        return { result: await this.#cancel(checked(params, readTaskId)) };
    }
    const kind = unsupported.get(method);
    if (kind !== undefined) {
      throw new A2ARefusal(kind, `${method} is not offered here`);
    }
    throw new A2ARefusal("method_not_found", "There is no such method");
  }

  async #begin(params: unknown, request: Request): Promise<ServedRun> {
    const message = checked(
      params,
      (value) => readMessage(objectAt(value, "params").message),
    );
    const { agentFor, tasks, ids, clock } = this.#options;
    const contextId = await this.#contextOf(message);
    const wanted = toTask(message.parts);
    const agent = await agentFor(contextId, request);
    const stream = agent.stream(wanted);
    const task: A2ATask = deepFreeze({
      id: ids.next(),
      contextId,
      status: {
        state: "TASK_STATE_SUBMITTED" as const,
        timestamp: new Date(clock.now()).toISOString(),
      },
    });
    await tasks.save(task);
    const run = new ServedRun(stream, task, this.#options);
    this.#running.set(task.id, run);
    const forget = () => this.#running.delete(task.id);
    run.settled.then(forget, forget);
    return run;
  }

  /** The conversation of a message; a new one if it names none. */
  async #contextOf({ taskId, contextId }: A2AMessage): Promise<string> {
    if (!taskId) return contextId || this.#options.ids.next();
    await this.#find(taskId);
    // Our tasks never wait for a message: they run, or they are over.
    throw new A2ARefusal(
      "unsupported_operation",
      "The task takes no message; send it to the context without a task id",
    );
  }

  async #find(taskId: string): Promise<A2ATask> {
    const task = this.#running.get(taskId)?.task ??
      await this.#options.tasks.load(taskId);
    if (task) return task;
    throw new A2ARefusal("task_not_found", "There is no such task");
  }

  async #cancel(taskId: string): Promise<A2ATask> {
    const run = this.#running.get(taskId);
    if (run === undefined) await this.#find(taskId);
    const task = await run?.cancel("the client cancelled the task");
    // The run may have ended while the request was on its way.
    if (task?.status.state === "TASK_STATE_CANCELED") return task;
    throw new A2ARefusal("task_not_cancelable", "The task is over");
  }
}

/** True for a client that does not wait but asks for its task later. */
function returnsAtOnce(params: unknown): boolean {
  const { configuration } = objectAt(params, "params");
  return isJsonObject(configuration) &&
    configuration.returnImmediately === true;
}

/** Lets a run end if its client hangs up. */
function endWith(request: Request, run: ServedRun): void {
  const unfollow = followSignal(request.signal, () => detach(leave(run)));
  run.settled.then(unfollow, unfollow);
}

async function leave(run: ServedRun): Promise<void> {
  await run.cancel("the client left");
}

function checked<T>(value: unknown, read: (value: unknown) => T): T {
  try {
    return read(value);
  } catch (error) {
    throw new A2ARefusal("invalid_params", errorText(error), { cause: error });
  }
}
