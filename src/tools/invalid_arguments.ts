import { proceed, type StepOutcome } from "./outcome.ts";

/** One thing that is wrong with the arguments of a call. */
export interface InvalidArgument {
  /** JSON Pointer into the arguments; the empty text is the whole. */
  readonly path: string;
  /** The JSON Schema keyword that failed. */
  readonly keyword: string;
  /** Chosen by the keyword; never quotes a value. */
  readonly message: string;
}

/** What the model reads when its arguments do not fit the schema of the tool. */
export interface InvalidArguments {
  /** Always `"error"`. */
  readonly status: "error";
  /** Name of the tool. */
  readonly tool: string;
  /** Always `"invalid_tool_arguments"`. */
  readonly code: "invalid_tool_arguments";
  /** What is wrong, at least one entry. */
  readonly errors: readonly InvalidArgument[];
  /** Present if there was more than `errors` shows. */
  readonly truncated?: true;
}

/** How many entries {@linkcode invalidArguments} shows by default. */
export const DEFAULT_MAX_ERRORS = 8;

/**
 * The outcome of a call whose arguments do not fit: the run goes on, so that
 * the model can correct itself.
 *
 * @param errors In the order in which they are shown.
 * @param maxErrors How many of them are shown.
 */
export function invalidArguments(
  toolName: string,
  errors: readonly InvalidArgument[],
  maxErrors: number = DEFAULT_MAX_ERRORS,
): StepOutcome<InvalidArguments> {
  return proceed({
    status: "error",
    tool: toolName,
    code: "invalid_tool_arguments",
    errors: errors.slice(0, maxErrors),
    ...(errors.length > maxErrors && { truncated: true as const }),
  });
}
