import { ContinueRejectedError } from "../../src/agent/continuation.ts";
import type { ControlReceipt } from "../../src/agent/steering.ts";
import { EJAgentError, errorText } from "../../src/base/errors.ts";
import { isJsonObject } from "../../src/base/json.ts";
import type { Logger } from "../../src/base/ports.ts";
import type { TaskInput } from "../../src/messages/content.ts";
import type { SessionBranch } from "../../src/session/tree.ts";
import {
  SessionArgumentError,
  SessionConflictError,
  SessionSerializationError,
} from "../../src/session/errors.ts";
import {
  exportJournal,
  importJournal,
  type JournalOwner,
} from "../../src/session/export.ts";
import { ObjectBusyError } from "./object_busy.ts";
import type { ObjectMessage, ObjectRunResult } from "./rpc_types.ts";

/**
 * A Durable Object with an agent; the methods can be called by RPC.
 *
 * The routes of `fetch` are the last segment of the path, with JSON bodies:
 *
 * | request | body | answer |
 * | --- | --- | --- |
 * | `POST run` | `{ "task" }` | server-sent events |
 * | `POST continue` | | server-sent events |
 * | `POST steer` | `{ "content" }` | receipt |
 * | `POST follow-up` | `{ "task" }` | receipt |
 * | `POST abort` | `{ "reason"? }` | `{ "aborted" }` |
 * | `GET history?branch=` | | messages |
 * | `GET branches` | | branches |
 * | `GET journal` | | the journal, one record a line |
 * | `PUT journal` | such a journal | `{ "recordCount", "ignoredByteCount" }` |
 *
 * They know no user: check in the Worker who may reach which object.
 *
 * A refusal is `{ "error": { "code", "message" } }` with a status: 400 for wrong
 * input, 404 for an unknown branch or route, 405 for a known one with another
 * method, 409 for what does not fit the state of the session; a continue that is
 * refused also says the `reason`. What else goes wrong is 500 without details,
 * which the `logger` of the object is told.
 *
 * `PUT journal` takes a journal of the object's own session and agent, and no run
 * beside it. It is stored while it arrives, so that it may be longer than the
 * memory. One that is damaged is refused with the `line` of the damage and the
 * `recordCount` that the object holds now; the whole journal, put again, goes on
 * there. Bytes behind the last line feed are no record and are only counted.
 */
export interface AgentObject {
  /** Answers the routes. */
  fetch(request: Request): Promise<Response>;
  /** Runs a task to its result. */
  run(task: TaskInput): Promise<ObjectRunResult>;
  /**
   * Runs a task and shows its events. A reader who leaves cancels it, as soon as
   * the next event or ping finds nobody.
   */
  stream(task: TaskInput): Promise<Response>;
  /**
   * Goes on without a new task and shows the events.
   *
   * @throws {ContinueRejectedError} There is nothing to go on with.
   */
  continueStream(): Promise<Response>;
  /** Says something into the active run. */
  steer(content: string): Promise<ControlReceipt>;
  /** Queues a task behind the active run. */
  followUp(task: TaskInput): Promise<ControlReceipt>;
  /** Aborts what is active. @returns False if nothing was. */
  abort(reason?: string): Promise<boolean>;
  /**
   * The messages of a branch, oldest first.
   *
   * @param branchId `"main"` if omitted; it has no messages before the first run.
   * @throws {SessionArgumentError} `unknown_branch`: there is no such branch.
   */
  history(branchId?: string): Promise<readonly ObjectMessage[]>;
  /** The branches, in the order of their creation. */
  branches(): Promise<readonly SessionBranch[]>;
  /** Called by the platform: finds an interrupted run and closes it. */
  alarm(): Promise<void>;
}

/** What requests are about. */
export interface RouteTarget {
  /** The object that answers. */
  readonly object: AgentObject;
  /** Where its session is. */
  readonly journal: JournalOwner;
  /** Its session. */
  readonly sessionId: string;
  /** Its agent, which is made if need be. */
  readonly agentId: () => string;
  /** Does what stores a journal; refused while there is a run, and no run begins before it ends. */
  readonly storing: <T>(work: () => Promise<T>) => Promise<T>;
  /** Told what the client is not. */
  readonly logger: Logger;
}

type Route = (request: Request, target: RouteTarget) => Promise<Response>;

const routes: Readonly<Record<string, Route>> = {
  async "POST run"(request, { object }) {
    const { task } = await bodyOf(request);
    return await object.stream(task as TaskInput);
  },
  "POST continue": (_request, { object }) => object.continueStream(),
  async "POST steer"(request, { object }) {
    const { content } = await bodyOf(request);
    return Response.json(await object.steer(content as string));
  },
  async "POST follow-up"(request, { object }) {
    const { task } = await bodyOf(request);
    return Response.json(await object.followUp(task as TaskInput));
  },
  async "POST abort"(request, { object }) {
    const { reason } = await bodyOf(request);
    const aborted = await object.abort(reason as string | undefined);
    return Response.json({ aborted });
  },
  async "GET history"(request, { object }) {
    const branch = new URL(request.url).searchParams.get("branch");
    return Response.json(await object.history(branch ?? undefined));
  },
  async "GET branches"(_request, { object }) {
    return Response.json(await object.branches());
  },
  async "GET journal"(_request, { journal, sessionId }) {
    const headers = { "content-type": "application/x-ndjson" };
    const body = exportJournal(journal, sessionId);
    return await Promise.resolve(new Response(body, { headers }));
  },
  async "PUT journal"({ body }, { journal, sessionId, agentId, storing }) {
    if (body === null) throw new TypeError("The body must be a journal");
    // Another session would be stored as well, where nobody looks for it.
    const own = { sessionId, agentId: agentId() };
    try {
      const imported = await storing(() => importJournal(journal, body, own));
      const { recordCount, ignoredByteCount } = imported;
      return Response.json({ recordCount, ignoredByteCount });
    } catch (error) {
      if (!(error instanceof SessionSerializationError)) throw error;
      const recordCount = await recordCountOf(journal, sessionId);
      return refusal(error, { line: error.line, recordCount });
    }
  },
};

/** Answers a request by the last segment of its path. */
export async function answerRequest(
  request: Request,
  target: RouteTarget,
): Promise<Response> {
  const name = new URL(request.url).pathname.split("/").at(-1)!;
  const route = `${request.method} ${name}`;
  const answer = routes[route];
  if (answer === undefined) return noRoute(name);
  try {
    return await answer(request, target);
  } catch (error) {
    if (statusOf(error) === 500) {
      const { logger, sessionId } = target;
      const details = { route, sessionId, error: errorText(error) };
      logger.warn("A request to an agent object failed", details);
    }
    return error instanceof ContinueRejectedError
      ? refusal(error, { reason: error.reason })
      : refusal(error);
  }
}

function noRoute(name: string): Response {
  const methods = Object.keys(routes)
    .filter((route) => route.endsWith(` ${name}`))
    .map((route) => route.slice(0, -name.length - 1));
  if (methods.length === 0) {
    return refused(404, {
      code: "not_found",
      message: "There is no such route",
    });
  }
  const allow = methods.join(", ");
  const message = `This route takes ${allow}`;
  const error = { code: "method_not_allowed", message };
  return refused(405, error, { headers: { allow } });
}

async function bodyOf(
  request: Request,
): Promise<Readonly<Record<string, unknown>>> {
  const text = await request.text();
  const body: unknown = text === "" ? {} : parse(text);
  if (!isJsonObject(body)) throw new TypeError("The body must be an object");
  return body;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TypeError("The body must be JSON");
  }
}

async function recordCountOf(
  { backend }: JournalOwner,
  sessionId: string,
): Promise<number> {
  let count = 0;
  for await (const lines of backend.read(sessionId, null)) {
    count += lines.length;
  }
  return count;
}

/** The answer to what was thrown. @param facts What programs want to know beside the code. */
function refusal(
  error: unknown,
  facts: Readonly<Record<string, unknown>> = {},
): Response {
  const status = statusOf(error);
  // What happened inside is nobody's business outside.
  if (status === 500) {
    return refused(500, { code: "internal", message: "The request failed" });
  }
  const { message } = error as Error;
  return refused(status, { code: codeOf(error), message, ...facts });
}

function refused(
  status: number,
  error: Readonly<Record<string, unknown>>,
  init: ResponseInit = {},
): Response {
  return Response.json({ error }, { ...init, status });
}

function statusOf(error: unknown): number {
  if (error instanceof TypeError || error instanceof RangeError) return 400;
  if (error instanceof SessionSerializationError) return 400;
  if (error instanceof SessionConflictError) return 409;
  if (error instanceof ContinueRejectedError) return 409;
  if (error instanceof ObjectBusyError) return 409;
  if (!(error instanceof SessionArgumentError)) return 500;
  return error.code === "unknown_branch" ? 404 : 409;
}

function codeOf(error: unknown): string {
  return error instanceof EJAgentError ? error.code : "invalid_argument";
}
