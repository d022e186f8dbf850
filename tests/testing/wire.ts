import type { ModelServer } from "../../src/testing/model_server.ts";

/** A request that every server accepts. */
export const plainBody: {
  readonly model: string;
  readonly messages: readonly object[];
} = {
  model: "m",
  messages: [{ role: "user", content: "Hello" }],
};

/** Sends one chat completions request. */
export function post(
  server: ModelServer,
  body: unknown = plainBody,
  init: RequestInit = {},
): Promise<Response> {
  return server.fetch("http://model.test/v1/chat/completions", {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
  });
}

/** Asks for a stream. */
export function postStream(
  server: ModelServer,
  init: RequestInit = {},
): Promise<Response> {
  return post(server, { ...plainBody, stream: true }, init);
}

/** The data values of a body of server-sent events, JSON parsed. */
export async function dataOf(response: Response): Promise<unknown[]> {
  const events = (await response.text()).split("\n\n").slice(0, -1);
  return events.map((event) => {
    const data = event.replace(/^data: /, "");
    return data.startsWith("{") ? JSON.parse(data) : data;
  });
}

/** What the chunks of a streamed answer add to it: deltas, finish words, usage. */
export async function deltasOf(response: Response): Promise<unknown[]> {
  return (await dataOf(response)).map((data) => {
    if (typeof data === "string") return data;
    const { choices, usage, error } = data as {
      choices?: { delta: unknown; finish_reason: string | null }[];
      usage?: unknown;
      error?: unknown;
    };
    if (error !== undefined) return { error };
    const choice = choices?.[0];
    if (choice === undefined) return { usage };
    return choice.finish_reason ?? choice.delta;
  });
}
