import { ContinueRejectedError } from "../../src/agent/continuation.ts";
import { EJAgentError } from "../../src/base/errors.ts";
import { isJsonObject } from "../../src/base/json.ts";
import type { TaskInput } from "../../src/messages/content.ts";
import type { AgentMessage } from "../../src/messages/message.ts";
import type { AgentRunResult } from "../../src/messages/result.ts";
import type { ControlReceipt } from "../../src/agent/steering.ts";
import type { SessionBranch } from "../../src/session/tree.ts";
import {
  SessionConflictError,
  SessionSerializationError,
} from "../../src/session/errors.ts";
import {
  exportJournal,
  importJournal,
  type JournalOwner,
} from "../../src/session/export.ts";

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
 * | `PUT journal` | such a journal | `{ "recordCount" }` |
 *
 * They know no user: check in the Worker who may reach which object.
 */
export interface AgentObject {
  /** Answers the routes. */
  fetch(request: Request): Promise<Response>;
  /** Runs a task to its result. */
  run(task: TaskInput): Promise<AgentRunResult>;
  /**
   * Runs a task and shows its events. A reader who leaves cancels it, as soon as
   * the next event or ping finds nobody.
   */
  stream(task: TaskInput): Promise<Response>;
  /** Goes on without a new task and shows the events. */
  continueStream(): Promise<Response>;
  /** Says something into the active run. */
  steer(content: string): Promise<ControlReceipt>;
  /** Queues a task behind the active run. */
  followUp(task: TaskInput): Promise<ControlReceipt>;
  /** Aborts what is active. @returns False if nothing was. */
  abort(reason?: string): Promise<boolean>;
  /** The messages of a branch, oldest first. @param branchId `"main"` if omitted. */
  history(branchId?: string): Promise<readonly AgentMessage[]>;
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
  async "PUT journal"({ body }, { journal, sessionId }) {
    if (body === null) throw new TypeError("The body must be a journal");
    // Other sessions would be stored as well, where nobody looks for them.
    const { recordCount } = await importJournal(journal, body, { sessionId });
    return Response.json({ recordCount });
  },
};

/** Answers a request by the last segment of its path. */
export async function answerRequest(
  request: Request,
  target: RouteTarget,
): Promise<Response> {
  const name = new URL(request.url).pathname.split("/").at(-1);
  const route = routes[`${request.method} ${name}`];
  if (route === undefined) {
    return refusal(404, "not_found", "There is no such route");
  }
  try {
    return await route(request, target);
  } catch (error) {
    const status = statusOf(error);
    // What happened inside is nobody's business outside.
    return status === 500
      ? refusal(500, "internal", "The request failed")
      : refusal(status, codeOf(error), (error as Error).message);
  }
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

function statusOf(error: unknown): number {
  if (error instanceof TypeError || error instanceof RangeError) return 400;
  if (error instanceof SessionSerializationError) return 400;
  if (error instanceof SessionConflictError) return 409;
  if (error instanceof ContinueRejectedError) return 409;
  return 500;
}

function codeOf(error: unknown): string {
  return error instanceof EJAgentError ? error.code : "invalid_argument";
}

function refusal(status: number, code: string, message: string): Response {
  return Response.json({ error: { code, message } }, { status });
}
