import process from "node:process";
import type { ModelAdapter } from "@ejagent/core";
import {
  ChatModelAdapter,
  createModelConfig,
  modelConfigFromEnv,
} from "@ejagent/core/chat";
import {
  modelServer,
  type Script,
  type ServerStep,
} from "@ejagent/core/testing";
import { platform } from "./platform.ts";

/** A model for an example. */
export interface ExampleProvider {
  /** Talks to the provider. */
  readonly model: ModelAdapter;
  /** Says which provider it is. */
  readonly describe: string;
  /** The settings with which another process reaches the same provider. */
  readonly environment: Readonly<Record<string, string>>;
  /** Gives back what was started for the example. */
  close(): Promise<void>;
}

/**
 * The provider that the environment configures; without a `MODEL_API_KEY` an
 * embedded model server on loopback, which plays the script.
 */
export async function exampleModel(
  offline: Script<ServerStep>,
): Promise<ExampleProvider> {
  readEnvFile();
  const env = platform.environment();
  if (env.MODEL_API_KEY) {
    const config = modelConfigFromEnv(env);
    return {
      model: new ChatModelAdapter(config),
      describe: `Asking ${config.model} at ${config.baseUrl}`,
      environment: {},
      close: () => Promise.resolve(),
    };
  }

  // On a terminal the words come as slowly as those of a real model.
  const delivery = { delayMs: process.stdout.isTTY ? 25 : 0 };
  const server = await platform.serve(modelServer(offline, { delivery }).fetch);
  const config = createModelConfig({
    model: "scripted",
    apiKey: "none",
    baseUrl: `${server.url}/v1`,
  });
  return {
    model: new ChatModelAdapter(config),
    describe: `Asking the embedded model server at ${config.baseUrl}; ` +
      "set MODEL_API_KEY, MODEL_URL and CHAT_MODEL to ask a real one",
    environment: {
      MODEL_API_KEY: config.apiKey,
      MODEL_URL: config.baseUrl,
      CHAT_MODEL: config.model,
    },
    close: () => server.close(),
  };
}

/** Settings of `.env`, if there is such a file and the key is not set otherwise. */
function readEnvFile(): void {
  if (process.env.MODEL_API_KEY !== undefined) return;
  try {
    process.loadEnvFile();
  } catch {
    // The file is optional.
  }
}
