import type { ModelEnvironment } from "./config.ts";

const variables: Readonly<Record<keyof ModelEnvironment, true>> = {
  CHAT_MODEL: true,
  MODEL_API_KEY: true,
  MODEL_URL: true,
  LLM_TIMEOUT: true,
  LLM_TEMPERATURE: true,
  LLM_INCLUDE_USAGE: true,
};

/**
 * Collects the variables that configure a model, and reads no others.
 *
 * @param read Gives the value of one variable; undefined if it is not set.
 */
export function readModelEnvironment(
  read: (name: string) => string | undefined,
): ModelEnvironment {
  const found: Record<string, string> = {};
  for (const name of Object.keys(variables)) {
    const value = read(name);
    if (value !== undefined) found[name] = value;
  }
  return found;
}
