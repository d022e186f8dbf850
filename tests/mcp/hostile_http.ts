/** What a client asked, as far as a server that misbehaves cares. */
export interface HostileRequest {
  readonly id: number;
  readonly method: string;
  /** By which reports say what they are about. */
  readonly progressToken: unknown;
  /** Aborts when the client gives the request up. */
  readonly signal: AbortSignal;
}

/** How the calls of a tool are answered. */
export type Misdeed = (request: HostileRequest) => Response | Promise<Response>;

/** A message of a server as text. */
export function message(rest: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ jsonrpc: "2.0", ...rest });
}

/** The answer to a call as text. */
export function answerTo({ id }: HostileRequest, text: string): string {
  return message({ id, result: { content: [{ type: "text", text }] } });
}

/** A response that is one JSON text, whole or not. */
export function json(text: string): Response {
  return new Response(text, {
    headers: { "content-type": "application/json" },
  });
}

/** A response that is a stream of events; `end` says what comes after the last one. */
export function eventStream(
  events: Iterable<string>,
  end: "close" | "break" = "close",
): Response {
  const pieces = events[Symbol.iterator]();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { value, done } = pieces.next();
      if (!done) controller.enqueue(encoder.encode(`data: ${value}\n\n`));
      else if (end === "close") controller.close();
      else controller.error(new TypeError("reset by peer"));
    },
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream" },
  });
}

/** A stream of events that never come, until the client gives it up. */
export function silentStream(signal: AbortSignal): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(": quiet\n\n"));
      signal.addEventListener("abort", () => controller.error(signal.reason));
    },
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream" },
  });
}

/** The `fetch` of a client whose server has one tool for each misdeed. */
export function hostileFetch(
  misdeeds: Readonly<Record<string, Misdeed>>,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (_url, { method = "GET", body, signal } = {}) => {
    if (method !== "POST") return new Response(null, { status: 405 });
    const { id, method: asked, params = {} } = JSON.parse(String(body));
    switch (asked) {
      case "initialize":
        return json(message({
          id,
          result: {
            protocolVersion: params.protocolVersion,
            capabilities: { tools: {} },
            serverInfo: { name: "hostile", version: "1" },
          },
        }));
      case "tools/list":
        return json(message({
          id,
          result: {
            tools: Object.keys(misdeeds).map((name) => ({
              name,
              inputSchema: { type: "object" },
            })),
          },
        }));
      case "tools/call":
        return await misdeeds[params.name]!({
          id,
          method: asked,
          progressToken: params._meta?.progressToken,
          signal: signal!,
        });
      default:
        return new Response(null, { status: 202 });
    }
  };
}
