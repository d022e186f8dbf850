import { type ToolMessage, toolMessage } from "../messages/message.ts";

const unknownOutcome =
  "interrupted before a result was recorded; the call may or may not have taken effect";
const neverStarted = "interrupted before the call was started";

/** A call whose result nobody recorded. */
export interface InterruptedCall {
  /** Id of the call. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** False if it is known that the call never began. @default {true} */
  readonly started?: boolean;
}

/** The tool message that tells the model of a call without a recorded result. */
export function interruptedToolMessage(call: InterruptedCall): ToolMessage {
  const started = call.started ?? true;
  return toolMessage(
    call.id,
    JSON.stringify({
      status: "interrupted",
      tool: call.name,
      error: started ? unknownOutcome : neverStarted,
      ...(!started && { started }),
    }),
  );
}
