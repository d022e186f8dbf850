import { Agent, type AgentOptions } from "../../mod.ts";
import {
  A2AAgent,
  type A2AAgentOptions,
  type A2AHandlerOptions,
  createA2AHandler,
} from "../../src/a2a/mod.ts";
import {
  countingIds,
  ManualClock,
  RecordingLogger,
  ScriptedModel,
  type ScriptStep,
} from "../../src/testing/mod.ts";

/** What a JSON-RPC call said. */
export interface SeenCall {
  readonly method: string;
  // deno-lint-ignore no-explicit-any -- whatever the client sent
  readonly params: any;
  readonly headers: Headers;
}

/** A served agent, its handler and what was asked of it. */
export interface Served {
  readonly handler: (request: Request) => Promise<Response>;
  readonly agent: Agent;
  readonly model: ScriptedModel;
  readonly logger: RecordingLogger;
  /** The contexts that an agent was looked up for. */
  readonly contexts: string[];
}

/** Serves one agent to all contexts. Ids count, the clock stands still. */
export function serve(
  script: readonly ScriptStep[],
  options: Partial<A2AHandlerOptions> & {
    readonly agent?: Partial<AgentOptions>;
  } = {},
): Served {
  const model = new ScriptedModel(script);
  const logger = new RecordingLogger();
  const contexts: string[] = [];
  const { agent: agentOptions, ...rest } = options;
  const agent = new Agent({
    agentId: "served",
    model,
    logger,
    runtimePolicy: { abortGraceMs: 0 },
    ...agentOptions,
  });
  const handler = createA2AHandler({
    card: { name: "Served", description: "Answers.", version: "1.2.3" },
    agentFor(contextId) {
      contexts.push(contextId);
      return agent;
    },
    clock: new ManualClock(Date.UTC(2026, 0, 2)),
    ids: countingIds("s"),
    logger,
    ...rest,
  });
  return { handler, agent, model, logger, contexts };
}

/** A remote agent over a function that answers, and the calls that it made. */
export function remote(
  answer: (request: Request) => Response | Promise<Response>,
  options: Partial<A2AAgentOptions> = {},
): { readonly agent: A2AAgent; readonly calls: SeenCall[] } {
  const calls: SeenCall[] = [];
  const agent = new A2AAgent({
    agentId: "far",
    url: "http://far.example/",
    ids: countingIds("c"),
    clock: new ManualClock(),
    logger: new RecordingLogger(),
    async fetch(url, init) {
      const request = new Request(url, init);
      if (typeof init.body === "string") {
        const { method, params } = JSON.parse(init.body);
        calls.push({ method, params, headers: request.headers });
      }
      return await answer(request);
    },
    ...options,
  });
  return { agent, calls };
}

/** A JSON-RPC call to the endpoint of a handler. */
export function rpc(
  method: string,
  params: unknown,
  headers: Readonly<Record<string, string>> = {},
): Request {
  return new Request("http://served.example/", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
}

/** Parameters that say a text. */
export function saying(
  text: string,
  more: Readonly<Record<string, unknown>> = {},
): unknown {
  return {
    message: {
      messageId: "m",
      role: "ROLE_USER",
      parts: [{ text }],
      ...more,
    },
  };
}

/** The result or the error code of a JSON answer. */
// deno-lint-ignore no-explicit-any -- whatever the server answered
export async function outcomeOf(response: Response): Promise<any> {
  const { result, error } = await response.json();
  return error === undefined ? result : error.code;
}

/** The frames of a stream, as they were sent. */
// deno-lint-ignore no-explicit-any -- whatever the server sent
export async function framesOf(response: Response): Promise<any[]> {
  return (await response.text()).split("\n\n").filter((text) => text !== "")
    .map((text) => {
      const data = text.split("\n").find((line) => line.startsWith("data: "));
      const { result, error } = JSON.parse(data!.slice(6));
      return error === undefined ? result : { error };
    });
}

/** A stream of frames, as a server would send it; open at its end if `open`. */
export function streaming(
  frames: readonly unknown[],
  parts: { readonly open?: boolean; readonly onCancel?: () => void } = {},
): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const result of frames) {
        const text = JSON.stringify({ jsonrpc: "2.0", id: 1, result });
        controller.enqueue(encoder.encode(`data: ${text}\n\n`));
      }
      if (!parts.open) controller.close();
    },
    cancel: () => parts.onCancel?.(),
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream" },
  });
}

/** A frame with a whole task. */
export function taskFrame(
  state: string,
  more: Readonly<Record<string, unknown>> = {},
): unknown {
  const { message, ...rest } = more;
  return {
    task: {
      id: "t1",
      contextId: "ctx",
      status: { state: `TASK_STATE_${state}`, message },
      ...rest,
    },
  };
}

/** A frame with a new state. */
export function statusFrame(state: string, text?: string): unknown {
  return {
    statusUpdate: {
      taskId: "t1",
      contextId: "ctx",
      status: {
        state: `TASK_STATE_${state}`,
        ...(text !== undefined && { message: agentMessage(text) }),
      },
    },
  };
}

/** A frame with a piece of an artifact. */
export function artifactFrame(
  text: string,
  append = false,
  artifactId = "a1",
): unknown {
  return {
    artifactUpdate: {
      taskId: "t1",
      contextId: "ctx",
      artifact: { artifactId, parts: [{ text }] },
      append,
    },
  };
}

/** What an agent says. */
export function agentMessage(text: string): unknown {
  return {
    messageId: `said ${text}`,
    role: "ROLE_AGENT",
    parts: [{ text }],
    contextId: "ctx",
  };
}
