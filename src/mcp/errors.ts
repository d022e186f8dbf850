import { EJAgentError } from "../base/errors.ts";

/** A tool of a server reported an error, or its result breaks its own description. */
export class McpToolError extends EJAgentError {
  /** Always `"mcp_tool"`. */
  override readonly code = "mcp_tool";
}

/** What a server error is about. */
export interface McpServerErrorOptions extends ErrorOptions {
  /** Name of the server. */
  readonly server: string;
  /** Status of the HTTP response, if there was one. */
  readonly httpStatus?: number | undefined;
}

/**
 * A server cannot be reached, refuses to talk, or does not answer in time.
 *
 * The message never holds what the server wrote into a refused HTTP request.
 */
export class McpServerError extends EJAgentError {
  /** Always `"mcp_server"`. */
  override readonly code = "mcp_server";
  /** Name of the server. */
  readonly server: string;
  /** Status of the HTTP response, if there was one. */
  readonly httpStatus: number | undefined;

  /** Blames a server. @param message What happened, without a final period. */
  constructor(message: string, options: McpServerErrorOptions) {
    super(message, options);
    this.server = options.server;
    this.httpStatus = options.httpStatus;
  }
}
