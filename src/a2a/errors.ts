import { EJAgentError } from "../base/errors.ts";

/** Why a request is refused. */
export type A2ARefusalKind =
  | "parse_error"
  | "invalid_request"
  | "method_not_found"
  | "invalid_params"
  | "internal_error"
  | "task_not_found"
  | "task_not_cancelable"
  | "push_notification_not_supported"
  | "unsupported_operation"
  | "content_type_not_supported"
  | "invalid_agent_response"
  | "extended_agent_card_not_configured"
  | "extension_support_required"
  | "version_not_supported";

/** The code of each kind in JSON-RPC. */
export const RPC_CODE: Readonly<Record<A2ARefusalKind, number>> = {
  parse_error: -32700,
  invalid_request: -32600,
  method_not_found: -32601,
  invalid_params: -32602,
  internal_error: -32603,
  task_not_found: -32001,
  task_not_cancelable: -32002,
  push_notification_not_supported: -32003,
  unsupported_operation: -32004,
  content_type_not_supported: -32005,
  invalid_agent_response: -32006,
  extended_agent_card_not_configured: -32007,
  extension_support_required: -32008,
  version_not_supported: -32009,
};

/** The error member of a JSON-RPC answer. */
export interface WireRpcError {
  /** One of {@linkcode RPC_CODE}, or a code of the server's own. */
  readonly code: number;
  /** For people. */
  readonly message: string;
  /** For programs. */
  readonly data?: unknown;
}

/** A request was refused: the protocol has a code for it. */
export class A2ARefusal extends EJAgentError {
  /** Always `"a2a_refusal"`. */
  override readonly code = "a2a_refusal";
  /** Why. */
  readonly kind: A2ARefusalKind;

  /** Makes the error. */
  constructor(kind: A2ARefusalKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** A remote agent could not be asked, or answered with an error or against the protocol. */
export class A2AError extends EJAgentError {
  /** Always `"a2a"`. */
  override readonly code = "a2a";
  /** HTTP status, if the answer was no success. */
  readonly status: number | undefined;
  /** Code of a JSON-RPC error. */
  readonly rpcCode: number | undefined;
  /** True if the same request may succeed later. */
  readonly retryable: boolean;

  /** Makes the error. */
  constructor(
    message: string,
    options: ErrorOptions & {
      readonly status?: number;
      readonly rpcCode?: number;
      readonly retryable?: boolean;
    } = {},
  ) {
    super(message, options);
    this.status = options.status;
    this.rpcCode = options.rpcCode;
    this.retryable = options.retryable ?? false;
  }
}

/** A refusal as it is sent. */
export function toRpcError({ kind, message }: A2ARefusal): WireRpcError {
  const code = RPC_CODE[kind];
  // Errors of the protocol itself carry their name in the form of google.rpc.ErrorInfo.
  if (code <= -32600) return { code, message };
  return {
    code,
    message,
    data: [{
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: kind.toUpperCase(),
      domain: "a2a-protocol.org",
    }],
  };
}
