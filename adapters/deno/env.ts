import type { ModelEnvironment } from "../../src/chat/config.ts";
import { readModelEnvironment } from "../../src/chat/environment.ts";

/**
 * The variables of the environment that configure a model.
 *
 * Reads six names and nothing else, so that
 * `--allow-env=MODEL_API_KEY,MODEL_URL,CHAT_MODEL,LLM_TIMEOUT,LLM_TEMPERATURE,LLM_INCLUDE_USAGE`
 * is enough.
 *
 * @throws {Deno.errors.NotCapable} If one of them may not be read.
 */
export function environment(): ModelEnvironment {
  return readModelEnvironment((name) => Deno.env.get(name));
}
