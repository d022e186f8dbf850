import type { McpTransport } from "../../src/mcp/mod.ts";
import { deferred } from "../support/deferred.ts";

type Json = Record<string, unknown>;

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Json;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** What the implementation of a tool can do besides answering. */
export interface FakeCall {
  readonly name: string;
  readonly arguments: Json;
  /** Aborts when the client cancels the call. */
  readonly signal: AbortSignal;
  /** Reports progress, if the client asked for it. */
  progress(progress: Json): void;
  /** Asks the client something; rejects with the text of its error. */
  ask(method: string, params?: Json): Promise<unknown>;
}

/** How a {@linkcode FakeServer} behaves; may be changed at any time. */
export interface FakeServerOptions {
  tools?: readonly unknown[];
  /** One list for each page; instead of `tools`. */
  pages?: readonly (readonly unknown[])[];
  /** The cursor after the last page. */
  lastCursor?: string;
  capabilities?: Json;
  instructions?: string;
  call?: (call: FakeCall) => unknown;
  /** Throws to refuse the handshake; a promise delays it. */
  initialize?: () => unknown;
}

/** A tool as servers list it. */
export function tool(name: string, rest: Json = {}): Json {
  return { name, inputSchema: { type: "object", properties: {} }, ...rest };
}

/** A result of texts. */
export function texts(...lines: string[]): Json {
  return { content: lines.map((text) => ({ type: "text", text })) };
}

/** A server without a network; speaks the protocol by hand, so that it can break it. */
export class FakeServer {
  readonly options: FakeServerOptions;
  /** What arrived, as `method` or `tools/call name`, in order. */
  readonly received: string[] = [];
  /** The parameters of every handshake. */
  readonly handshakes: Json[] = [];
  /** How many connections are open. */
  openCount = 0;
  #links = new Set<Link>();

  constructor(options: FakeServerOptions = {}) {
    this.options = options;
  }

  /** Makes a fresh connection. */
  readonly transport = (): McpTransport => {
    const link = new Link(this, (open) => {
      this.openCount += open ? 1 : -1;
      if (open) this.#links.add(link);
      else this.#links.delete(link);
    });
    return link;
  };

  /** Tells all clients something. */
  notify(method: string): void {
    for (const link of this.#links) link.deliver({ method });
  }

  /** Loses all connections. */
  drop(): void {
    for (const link of [...this.#links]) void link.close();
  }

  /** Answers one request. */
  async answer(
    { method, params = {} }: Message,
    call: Omit<FakeCall, "name" | "arguments">,
  ): Promise<unknown> {
    const { options } = this;
    const name = String(params.name);
    this.received.push(method === "tools/call" ? `${method} ${name}` : method!);
    switch (method) {
      case "initialize":
        await options.initialize?.();
        this.handshakes.push(params);
        return {
          protocolVersion: params.protocolVersion,
          capabilities: options.capabilities ??
            { tools: { listChanged: true } },
          serverInfo: { name: "fake", version: "1" },
          instructions: options.instructions,
        };
      case "tools/list":
        return this.#page(params.cursor);
      case "tools/call":
        return await options.call?.({
          ...call,
          name,
          arguments: params.arguments as Json,
        }) ?? texts("done");
      default:
        throw new Error(`Method not found: ${method}`);
    }
  }

  #page(cursor: unknown): Json {
    const { tools = [tool("lookup")], pages = [tools], lastCursor } =
      this.options;
    const index = cursor === undefined ? 0 : Number(cursor);
    const next = index + 1 < pages.length ? String(index + 1) : lastCursor;
    return { tools: pages[index] ?? [], nextCursor: next };
  }
}

class Link implements McpTransport {
  onmessage?: (message: unknown) => void;
  onclose?: () => void;
  readonly #server: FakeServer;
  readonly #onOpen: (open: boolean) => void;
  readonly #calls = new Map<unknown, AbortController>();
  readonly #asked = new Map<unknown, (answer: Message) => void>();
  #isOpen = false;
  #nextId = 1;

  constructor(server: FakeServer, onOpen: (open: boolean) => void) {
    this.#server = server;
    this.#onOpen = onOpen;
  }

  start(): Promise<void> {
    this.#isOpen = true;
    this.#onOpen(true);
    return Promise.resolve();
  }

  send(message: Message): Promise<void> {
    if (!this.#isOpen) return Promise.reject(new Error("Not connected"));
    void this.#take(structuredClone(message));
    return Promise.resolve();
  }

  close(): Promise<void> {
    if (this.#isOpen) {
      this.#isOpen = false;
      this.#onOpen(false);
      this.onclose?.();
    }
    return Promise.resolve();
  }

  deliver(message: Message): void {
    if (!this.#isOpen) return;
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    queueMicrotask(() => this.onmessage?.(JSON.parse(text)));
  }

  async #take(message: Message): Promise<void> {
    const { id, method, params } = message;
    if (method === undefined) return this.#asked.get(id)?.(message);
    if (id === undefined) {
      this.#server.received.push(method);
      if (method !== "notifications/cancelled") return;
      return this.#calls.get(params?.requestId)?.abort(params?.reason);
    }
    const controller = new AbortController();
    this.#calls.set(id, controller);
    const token = (params?._meta as Json | undefined)?.progressToken;
    try {
      const result = await this.#server.answer(message, {
        signal: controller.signal,
        progress: (progress) => {
          if (token === undefined) return;
          const params = { progressToken: token, ...progress };
          this.deliver({ method: "notifications/progress", params });
        },
        ask: (method, params = {}) => this.#ask(method, params),
      });
      this.deliver({ id, result });
    } catch (error) {
      const { code = -32603, message } = error as Error & { code?: number };
      this.deliver({ id, error: { code, message } });
    }
  }

  async #ask(method: string, params: Json): Promise<unknown> {
    const id = `s${this.#nextId++}`;
    const answer = deferred<Message>();
    this.#asked.set(id, answer.resolve);
    this.deliver({ id, method, params });
    const { result, error } = await answer.promise;
    if (error !== undefined) throw new Error(error.message);
    return result;
  }
}

/** The same server behind an address, for the `fetch` of a client. */
export class FakeHttpServer {
  readonly server: FakeServer;
  /** Every request, as `METHOD session`, in order. */
  readonly requests: string[] = [];
  /** The headers of every request. */
  readonly headers: Headers[] = [];
  /** Called before every call of a tool. */
  beforeCall: (() => void) | undefined;
  /** The status that all requests are refused with. */
  refusal: number | null = null;
  /** How requests of an unknown session are refused. */
  unknownSession: readonly [text: string, status: number] = ["Gone", 404];
  readonly #sessions = new Set<string>();
  #nextSession = 1;

  constructor(server: FakeServer) {
    this.server = server;
  }

  /** Forgets all sessions. */
  forget(): void {
    this.#sessions.clear();
  }

  readonly fetch = async (
    _url: string | URL,
    init: RequestInit = {},
  ): Promise<Response> => {
    const headers = new Headers(init.headers);
    const session = headers.get("mcp-session-id");
    this.requests.push(`${init.method ?? "GET"} ${session ?? "-"}`);
    this.headers.push(headers);
    if (this.refusal !== null) {
      return new Response("secret diagnosis", { status: this.refusal });
    }
    if (init.method === "DELETE") {
      this.#sessions.delete(session ?? "");
      return new Response(null, { status: 200 });
    }
    if (init.method !== "POST") return new Response(null, { status: 405 });
    const message: Message = JSON.parse(String(init.body));
    if (message.method === "tools/call") this.beforeCall?.();
    if (message.method !== "initialize" && !this.#sessions.has(session!)) {
      const [text, status] = this.unknownSession;
      return new Response(text, { status });
    }
    if (message.id === undefined) return new Response(null, { status: 202 });
    return await this.#answer(message);
  };

  async #answer(message: Message): Promise<Response> {
    const result = await this.server.answer(message, {
      signal: new AbortController().signal,
      progress() {},
      ask: () => Promise.reject(new Error("There is no way back")),
    });
    const headers = new Headers({ "content-type": "application/json" });
    if (message.method === "initialize") {
      const id = `session-${this.#nextSession++}`;
      this.#sessions.add(id);
      headers.set("mcp-session-id", id);
    }
    const body = JSON.stringify({ jsonrpc: "2.0", id: message.id, result });
    return new Response(body, { headers });
  }
}
