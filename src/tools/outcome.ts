import { frozen } from "../base/freeze.ts";
import type { ToolMessage } from "../messages/message.ts";
import type { ToolControl } from "../messages/tool.ts";

const brand: unique symbol = Symbol.for("ejagent.StepOutcome");

/**
 * What a tool produced: data for the model, and what the run does next.
 *
 * Made by {@linkcode proceed}, {@linkcode complete}, {@linkcode reject} and
 * {@linkcode cancel}; an object that merely looks like one is data.
 */
export interface StepOutcome<T = unknown> {
  /** Goes to the model as text, see {@linkcode serializeToolResult}. */
  readonly data: T;
  /** Whether the run goes on, and if not, how it ends. */
  readonly control: ToolControl;
  /** Facts for middleware; neither the model nor the journal sees them. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /**
   * Tells outcomes from plain data, across copies of this package.
   *
   * @ignore
   */
  readonly [brand]: true;
}

/** Gives data to the model and lets the run go on. */
export function proceed<T>(
  data: T,
  meta?: Readonly<Record<string, unknown>>,
): StepOutcome<T> {
  return outcome(data, "continue", meta);
}

/** Ends the run as completed; the data becomes its output. */
export function complete<T>(
  data: T,
  meta?: Readonly<Record<string, unknown>>,
): StepOutcome<T> {
  return outcome(data, "complete", meta);
}

/** Ends the run as rejected; the data becomes its output. */
export function reject<T>(
  data: T,
  meta?: Readonly<Record<string, unknown>>,
): StepOutcome<T> {
  return outcome(data, "reject", meta);
}

/** Ends the run as cancelled by the tool; the data becomes its output. */
export function cancel<T>(
  data: T,
  meta?: Readonly<Record<string, unknown>>,
): StepOutcome<T> {
  return outcome(data, "cancel", meta);
}

/** True for what the four functions made, also those of another copy of this package. */
export function isStepOutcome(value: unknown): value is StepOutcome {
  return typeof value === "object" && value !== null && brand in value;
}

/** One settled call: what the model reads and what the run does next. */
export interface ToolCallResult {
  /** The tool message that answers the call. */
  readonly messages: readonly ToolMessage[];
  /** Whether the run goes on, and if not, how it ends. */
  readonly control: ToolControl;
  /** The text of a terminal outcome, which becomes the output of the run; else null. */
  readonly output: string | null;
  /**
   * Why the call failed or was not executed; null if the tool answered. Arguments
   * that do not fit are answered too: with `invalid_tool_arguments` as `code` of
   * the message.
   */
  readonly error: string | null;
  /** True if an abort ended the call or it was skipped. */
  readonly cancelled: boolean;
}

function outcome<T>(
  data: T,
  control: ToolControl,
  meta: Readonly<Record<string, unknown>> | undefined,
): StepOutcome<T> {
  return frozen(
    meta === undefined
      ? { data, control, [brand]: true as const }
      : { data, control, meta, [brand]: true as const },
  );
}
