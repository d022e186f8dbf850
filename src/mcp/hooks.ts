import type { JsonObject } from "../base/json.ts";
import {
  type Client,
  type ClientCapabilities,
  CreateMessageRequestSchema,
  type CreateMessageResult,
  ElicitRequestSchema,
  type ElicitResult,
  ErrorCode,
  ListRootsRequestSchema,
  McpError,
} from "./sdk.ts";

/** What a hook is told besides the request. */
export interface McpHookContext {
  /** Name of the server that asks. */
  readonly server: string;
  /** Aborts when the server no longer wants an answer. */
  readonly signal: AbortSignal;
}

/** A server wants something from the user. */
export interface McpElicitRequest {
  /** What to show to the user. */
  readonly message: string;
  /** Whether to fill in a form or to visit an address. */
  readonly mode: "form" | "url";
  /** JSON Schema of the form. */
  readonly requestedSchema?: JsonObject;
  /** The address to visit. */
  readonly url?: string;
  /** Whatever else the protocol defines. */
  readonly [member: string]: unknown;
}

/** What the user did. */
export interface McpElicitResult {
  /** `"accept"` comes with the content of a form. */
  readonly action: "accept" | "decline" | "cancel";
  /** The form; what is missing is filled in from the defaults of its schema. */
  readonly content?: Readonly<Record<string, unknown>> | undefined;
}

/** A server wants a model to answer. */
export interface McpSampleRequest {
  /** The conversation, in the form of the protocol. */
  readonly messages: readonly JsonObject[];
  /** Tokens that the answer may have. */
  readonly maxTokens: number;
  /** Instructions of the server. */
  readonly systemPrompt?: string;
  /** Whatever else the protocol defines. */
  readonly [member: string]: unknown;
}

/** What the model answered. */
export interface McpSampleResult {
  /** Name of the model. */
  readonly model: string;
  /** Always the assistant. */
  readonly role: "assistant";
  /** One block of the protocol, such as `{ type: "text", text }`. */
  readonly content: Readonly<Record<string, unknown>>;
  /** Why the model stopped. */
  readonly stopReason?: string | undefined;
}

/** A place that servers may work in. */
export interface McpRoot {
  /** Its address, `file://` for folders. */
  readonly uri: string;
  /** For people. */
  readonly name?: string | undefined;
}

/**
 * What servers may ask of the client. Each ability is announced only if its hook is
 * given; a hook that throws answers the server with an error and changes nothing else.
 * Of each server only 64 questions to a hook are open at once; more are refused.
 */
export interface McpHooks {
  /**
   * Asks the user. The time of the call that the server is working on goes on
   * meanwhile, so give it one that people can keep up with.
   */
  readonly onElicit?:
    | ((
      request: McpElicitRequest,
      context: McpHookContext,
    ) => McpElicitResult | Promise<McpElicitResult>)
    | undefined;
  /** What `onElicit` can show. @default {["form"]} */
  readonly elicitModes?: readonly ("form" | "url")[] | undefined;
  /** Asks a model. */
  readonly onSample?:
    | ((
      request: McpSampleRequest,
      context: McpHookContext,
    ) => McpSampleResult | Promise<McpSampleResult>)
    | undefined;
  /** The places that servers may work in. */
  readonly roots?: readonly McpRoot[] | undefined;
}

/** The abilities that a client with these hooks announces. */
export function capabilitiesOf(hooks: McpHooks): ClientCapabilities {
  const { onElicit, elicitModes = ["form"], onSample, roots } = hooks;
  return {
    ...(onElicit !== undefined && {
      elicitation: {
        ...(elicitModes.includes("form") && { form: { applyDefaults: true } }),
        ...(elicitModes.includes("url") && { url: {} }),
      },
    }),
    ...(onSample !== undefined && { sampling: {} }),
    ...(roots !== undefined && { roots: {} }),
  };
}

/** Lets a client answer what its server asks. */
export function installHooks(
  client: Client,
  server: string,
  { onElicit, onSample, roots }: McpHooks,
): void {
  if (onElicit !== undefined) {
    client.setRequestHandler(
      ElicitRequestSchema,
      limited(async ({ params }, { signal }) => {
        const request = { mode: "form", ...params } as McpElicitRequest;
        return await onElicit(request, { server, signal }) as ElicitResult;
      }),
    );
  }
  if (onSample !== undefined) {
    client.setRequestHandler(
      CreateMessageRequestSchema,
      limited(async ({ params }, { signal }) => {
        const request = params as McpSampleRequest;
        const answer: unknown = await onSample(request, { server, signal });
        return answer as CreateMessageResult;
      }),
    );
  }
  if (roots !== undefined) {
    client.setRequestHandler(
      ListRootsRequestSchema,
      () => ({ roots: roots.map((root) => ({ ...root })) }),
    );
  }
}

type Answer<T> = (
  request: { readonly params: object },
  context: { readonly signal: AbortSignal },
) => Promise<T>;

const mostOpen = 64;

/** The same answers, as long as not too many are waited for: each may cost money or patience. */
function limited<T>(answer: Answer<T>): Answer<T> {
  let openCount = 0;
  return async (request, context) => {
    if (openCount >= mostOpen) {
      throw new McpError(ErrorCode.InternalError, "Too many open requests");
    }
    openCount += 1;
    try {
      return await answer(request, context);
    } finally {
      openCount -= 1;
    }
  };
}
