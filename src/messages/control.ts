import type { ContentPart } from "./content.ts";

/** What a control input is: text for the active run, or the task of a later one. */
export type ControlInputKind = "steering" | "follow_up";

/** What became of a submission at the moment it was made. */
export type ControlStatus =
  | "accepted"
  | "agent_idle"
  | "queue_full"
  | "run_closing";

/** One submission of `steer` or `followUp`. */
export interface ControlInput {
  /** Fresh id of this submission. */
  readonly inputId: string;
  /** What it is. */
  readonly kind: ControlInputKind;
  /** The trimmed text. */
  readonly content: string;
  /** The parts of a follow-up that is more than text. */
  readonly parts?: readonly ContentPart[];
}
