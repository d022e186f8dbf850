import { EJAgentError } from "../base/errors.ts";

/**
 * A JSON Schema is broken, or uses something that cannot be checked here.
 *
 * The message names the place and the rule, never a value of the schema.
 */
export class JsonSchemaError extends EJAgentError {
  /** Always `"json_schema"`. */
  override readonly code = "json_schema";
  /** JSON Pointer of the broken place; `""` is the schema itself. */
  readonly pointer: string;
  /** What is wrong there, as the end of a sentence. */
  readonly reason: string;

  /**
   * Words the message from the place and the reason.
   *
   * @param pointer JSON Pointer of the broken place.
   * @param reason What is wrong there, as the end of a sentence.
   * @param options The error this one was made from.
   */
  constructor(pointer: string, reason: string, options?: ErrorOptions) {
    super(`Invalid JSON Schema at "${pointer}": ${reason}`, options);
    this.pointer = pointer;
    this.reason = reason;
  }
}
