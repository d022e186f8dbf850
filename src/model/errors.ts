import { EJAgentError } from "../base/errors.ts";

/** What went wrong at the provider. */
export type ModelErrorKind =
  | "context_overflow"
  | "rate_limit"
  | "timeout"
  | "authentication"
  | "provider_error";

/** Facts that an adapter knows about a failure. */
export interface ModelErrorOptions extends ErrorOptions {
  /** HTTP status, if there was a response. */
  readonly status?: number | undefined;
  /** True if the same request may succeed later. */
  readonly retryable?: boolean | undefined;
  /**
   * True if the model has not worked on the request.
   *
   * @default Told by the kind, and by the status of a `provider_error`
   */
  readonly unprocessed?: boolean | undefined;
}

/**
 * A model request failed.
 *
 * Adapters throw this or one of its subclasses; anything else that they throw
 * is treated as a `provider_error` that is not worth a retry.
 */
export class ModelProviderError extends EJAgentError {
  /** The kind of the failure, as a code. */
  override readonly code: ModelErrorKind;
  /** What went wrong. */
  readonly kind: ModelErrorKind;
  /** True if the same request may succeed later. */
  readonly retryable: boolean;
  /** HTTP status, if there was a response. */
  readonly status: number | undefined;
  /**
   * True if the request was refused or never arrived, so that it has cost
   * nothing: an answer with an error status is not charged for.
   */
  readonly unprocessed: boolean;

  /** Makes the error. @param options `kind` is for subclasses. */
  constructor(
    message: string,
    options: ModelErrorOptions & { readonly kind?: ModelErrorKind } = {},
  ) {
    super(message, options);
    this.kind = options.kind ?? "provider_error";
    this.code = this.kind;
    this.retryable = options.retryable ?? false;
    this.status = options.status;
    this.unprocessed = options.unprocessed ??
      (this.kind === "provider_error"
        ? Number(options.status) >= 400
        : this.kind !== "timeout");
  }
}

/** The request is larger than the model's context window. */
export class ContextOverflowError extends ModelProviderError {
  /** True if parts of an answer were delivered before the failure. */
  readonly responseStarted: boolean;

  /** Makes the error. @param options `responseStarted` defaults to false. */
  constructor(
    message: string,
    options: ModelErrorOptions & { readonly responseStarted?: boolean } = {},
  ) {
    super(message, { ...options, kind: "context_overflow" });
    this.responseStarted = options.responseStarted ?? false;
  }
}

/** The provider refuses more requests for now. */
export class ModelRateLimitError extends ModelProviderError {
  /** Milliseconds the provider asks to wait; null if it did not say. */
  readonly retryAfterMs: number | null;

  /** Makes the error. @param options `retryable` defaults to true; false for a used-up quota. */
  constructor(
    message: string,
    options: ModelErrorOptions & { readonly retryAfterMs?: number | null } = {},
  ) {
    const { retryable = true } = options;
    super(message, { ...options, kind: "rate_limit", retryable });
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** The provider did not answer, or stopped answering, in time. */
export class ModelTimeoutError extends ModelProviderError {
  /** Makes the error. @param options `retryable` defaults to true. */
  constructor(message: string, options: ModelErrorOptions = {}) {
    const { retryable = true } = options;
    super(message, { ...options, kind: "timeout", retryable });
  }
}

/** The provider does not accept the key, or the key may not do this. */
export class ModelAuthenticationError extends ModelProviderError {
  /** Never retryable. */
  constructor(message: string, options: ModelErrorOptions = {}) {
    super(message, { ...options, kind: "authentication", retryable: false });
  }
}

/** An adapter broke the contract of its answers; the run fails with `protocol_error`. */
export class ModelProtocolError extends EJAgentError {
  /** Always `"protocol_error"`. */
  override readonly code = "protocol_error";
}
