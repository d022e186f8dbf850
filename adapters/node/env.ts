import { env } from "node:process";
import type { ModelEnvironment } from "../../src/chat/config.ts";
import { readModelEnvironment } from "../../src/chat/environment.ts";

/** The variables of the environment that configure a model; no others are read. */
export function environment(): ModelEnvironment {
  return readModelEnvironment((name) => env[name]);
}
