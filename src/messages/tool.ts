import type { JsonObject } from "../base/json.ts";

/** What a tool does to the world; only `"read_only"` tools may run side by side. */
export type ToolEffect = "read_only" | "side_effecting";

/** What the loop does after a tool: go on, or end the run in one of three ways. */
export type ToolControl = "continue" | "complete" | "reject" | "cancel";

/** The function-calling form that OpenAI-compatible providers take. */
export interface OpenAIFunctionTool {
  /** Always `"function"`. */
  readonly type: "function";
  /** Name, description, JSON Schema of the arguments, and the provider's strict mode. */
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: JsonObject;
    readonly strict?: boolean;
  };
}

/** What everyone may know of a tool. */
export interface ToolDefinitionView {
  /** 1 to 64 characters out of ASCII letters, digits, `_` and `-`. */
  readonly name: string;
  /** What the model reads. */
  readonly description: string | undefined;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject | undefined;
  /** What the tool does to the world. */
  readonly effect: ToolEffect;
  /** The provider's strict mode; undefined leaves it to the provider. */
  readonly strict: boolean | undefined;
}

/** A call that the model asked for. */
export interface ModelToolCall {
  /** Unique within its answer. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** The raw JSON text of the arguments. */
  readonly arguments: string;
}

/** A piece of progress that a tool reports. */
export interface ToolProgressUpdate {
  /** What is going on; not empty. */
  readonly message: string;
  /** Anything for observers; never sent to the model. Not to be changed after the report. */
  readonly data: unknown;
}
