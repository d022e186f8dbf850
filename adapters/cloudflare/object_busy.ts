import { EJAgentError } from "../../src/base/errors.ts";

/** An object does something else that must end first. */
export class ObjectBusyError extends EJAgentError {
  /** Always `"object_busy"`. */
  override readonly code = "object_busy";
}
