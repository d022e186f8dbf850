import { containedLogger, type Logger } from "../base/ports.ts";
import { callHook } from "../base/call_hook.ts";

/** Something about a server or one of its tools that somebody should know. */
export interface McpDiagnostic {
  /**
   * `"tool_left_out"`: the tool cannot be used, the others can.
   * `"output_unchecked"`: the tool's output schema is broken or has patterns, so results
   * are not checked, or not against these.
   * `"server_failed"`: the server is not connected.
   * `"list_failed"`: changed tools could not be listed; the old ones stay.
   * `"effects_unused"`: effects are given to a tool of a server that is not connected.
   * `"too_many"`: there is more that is wrong; nothing is kept of it.
   */
  readonly kind:
    | "tool_left_out"
    | "output_unchecked"
    | "server_failed"
    | "list_failed"
    | "effects_unused"
    | "too_many";
  /** Name of the server; empty if it is not known. */
  readonly server: string;
  /** Name of the tool, if it is about one. */
  readonly toolName?: string;
  /** What it is, without a final period. */
  readonly message: string;
}

/** Where diagnostics go. */
export type ReportDiagnostic = (diagnostic: McpDiagnostic) => void;

// Servers can make up as many broken tools as they like.
const mostKept = 1000;

/** Keeps diagnostics, up to a bound, and tells about each of them once. */
export class McpDiagnostics {
  readonly #logger: Logger;
  readonly #onDiagnostic: ReportDiagnostic | undefined;
  readonly #all = new Map<string, McpDiagnostic>();

  constructor(logger: Logger, onDiagnostic: ReportDiagnostic | undefined) {
    this.#logger = containedLogger(logger);
    this.#onDiagnostic = onDiagnostic;
  }

  /** Everything so far, oldest first. */
  get all(): readonly McpDiagnostic[] {
    return [...this.#all.values()];
  }

  /** Forgets everything. */
  clear(): void {
    this.#all.clear();
  }

  /** Takes one, unless it is known already. */
  readonly report: ReportDiagnostic = (diagnostic) => {
    if (this.#all.has(keyOf(diagnostic)) || this.#all.size > mostKept) return;
    this.#add(this.#all.size < mostKept ? diagnostic : tooMany);
  };

  #add(diagnostic: McpDiagnostic): void {
    const { kind, server, toolName, message } = diagnostic;
    this.#all.set(keyOf(diagnostic), Object.freeze(diagnostic));
    this.#logger.warn(titles[kind], {
      server,
      ...(toolName !== undefined && { toolName }),
      message,
    });
    callHook("onDiagnostic", this.#logger, () => {
      return this.#onDiagnostic?.(diagnostic);
    });
  }
}

const tooMany: McpDiagnostic = {
  kind: "too_many",
  server: "",
  message: `Only the first ${mostKept} diagnostics are kept`,
};

function keyOf({ kind, server, toolName, message }: McpDiagnostic): string {
  return JSON.stringify([kind, server, toolName, message]);
}

const titles: Readonly<Record<McpDiagnostic["kind"], string>> = {
  tool_left_out: "A tool of an MCP server is left out",
  output_unchecked: "The results of an MCP tool are not checked in full",
  server_failed: "An MCP server is not connected",
  list_failed: "The changed tools of an MCP server could not be listed",
  effects_unused: "An effect is given to an MCP tool that is not there",
  too_many: "More is wrong with MCP servers than is kept",
};
