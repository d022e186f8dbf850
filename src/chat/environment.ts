/** A variable of the environment that configures a model. */
export type ModelVariable =
  | "MODEL_API_KEY"
  | "MODEL_URL"
  | "CHAT_MODEL"
  | "LLM_TIMEOUT"
  | "LLM_TEMPERATURE"
  | "LLM_INCLUDE_USAGE";

/** The variables that are set. */
export type ModelEnvironment = Readonly<Partial<Record<ModelVariable, string>>>;

const variables: Readonly<Record<ModelVariable, true>> = {
  MODEL_API_KEY: true,
  MODEL_URL: true,
  CHAT_MODEL: true,
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
  read: (name: ModelVariable) => string | undefined,
): ModelEnvironment {
  const found: Partial<Record<ModelVariable, string>> = {};
  for (const name of Object.keys(variables) as ModelVariable[]) {
    const value = read(name);
    if (value !== undefined) found[name] = value;
  }
  return found;
}
