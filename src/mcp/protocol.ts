import type { JsonObject } from "../base/json.ts";

/**
 * Carries messages to a server and back.
 *
 * Every `Transport` of the official SDK is one. It is used for one connection and
 * closed by it.
 */
export interface McpTransport {
  /** Begins to deliver messages. */
  start(): Promise<void>;
  /** Sends one message. */
  // deno-lint-ignore no-explicit-any -- the message types of the SDK are not ours to name
  send(message: any, options?: any): Promise<void>;
  /** Ends the connection. */
  close(): Promise<void>;
  /** Id of the session, for transports that have one. */
  readonly sessionId?: string | undefined;
  /** Tells how the program behind the transport ended, as soon as it has. */
  ending?(): Promise<McpEnding>;
}

/** How a program ended. */
export interface McpEnding {
  /** The program, without its arguments. */
  readonly command: string;
  /** `exited with code 1` or `was ended by SIGKILL`, for instance. */
  readonly how: string;
  /** What it wrote to standard error at last; empty if it wrote nothing. */
  readonly lastOutput: string;
}

/** Hints of a server about a tool; nothing makes it tell the truth. */
export interface McpToolAnnotations {
  /** Title for people. */
  readonly title?: string;
  /** True claims that the tool changes nothing. */
  readonly readOnlyHint?: boolean;
  /** True claims that what it changes may be lost. */
  readonly destructiveHint?: boolean;
  /** True claims that calling it twice is the same as calling it once. */
  readonly idempotentHint?: boolean;
  /** True claims that it reaches beyond the server. */
  readonly openWorldHint?: boolean;
}

/** A tool as its server describes it. */
export interface McpTool {
  /** Name that the model sees. */
  readonly name: string;
  /** Name of the server; absent if a manager of yours does not say. */
  readonly server?: string;
  /** Name of the tool on its server. */
  readonly toolName?: string;
  /** Title for people. */
  readonly title?: string;
  /** What the model reads. */
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
  /** JSON Schema of the structured result. */
  readonly outputSchema?: JsonObject;
  /** Untrusted hints. */
  readonly annotations?: McpToolAnnotations;
  /** Pictures for people. */
  readonly icons?: readonly JsonObject[];
  /** What the protocol does not define. */
  readonly _meta?: JsonObject;
}

/** One piece of a result; `type` says which members there are. */
export interface McpContentBlock {
  /** `"text"`, `"image"`, `"audio"`, `"resource"`, `"resource_link"` or something newer. */
  readonly type: string;
  /** Whatever the type defines. */
  readonly [member: string]: unknown;
}

/** The result of a call as the server sent it. */
export interface McpToolResult {
  /** Pieces in order. */
  readonly content?: readonly McpContentBlock[];
  /** The result as data, for tools that have an output schema. */
  readonly structuredContent?: JsonObject;
  /** True if the tool failed. */
  readonly isError?: boolean;
  /** What the protocol does not define. */
  readonly _meta?: JsonObject;
}

/** One report of a running call. */
export interface McpProgress {
  /** How far it is. */
  readonly progress: number;
  /** How far it will go, if the server knows. */
  readonly total?: number | undefined;
  /** What it does. */
  readonly message?: string | undefined;
}

/** How the client introduces itself to servers. */
export interface McpClientInfo {
  /** Name of the program. */
  readonly name: string;
  /** Its version. */
  readonly version: string;
}
