import { frozen } from "../base/freeze.ts";
import type { JsonObject } from "../base/json.ts";
import {
  type AgentMessage,
  PROVIDER_DATA_KEY,
  replayOf,
} from "../messages/message.ts";

/** What a provider gave along with an answer and wants back. */
export interface ProviderData {
  /** Kept with the message for good. */
  readonly kept: JsonObject;
  /** Held in memory only, for as long as no user message follows. */
  readonly replay: JsonObject;
}

const origins = new WeakMap<AgentMessage, AgentMessage>();
const none: JsonObject = frozen({});

/** Remembers which message of the history a projected one was made from. */
export function rememberOrigin(
  projected: AgentMessage,
  origin: AgentMessage,
): void {
  if (projected !== origin) origins.set(projected, origin);
}

/** The message of the history that a projected one was made from, or the message itself. */
export function originOf(message: AgentMessage): AgentMessage {
  return origins.get(message) ?? message;
}

/**
 * Reads what the provider of an answer wants back with later requests.
 *
 * A message that middleware made anew has nothing.
 *
 * @param message A message of `ContextBuildResult.llmMessages`.
 */
export function providerDataOf(message: AgentMessage): ProviderData {
  const origin = originOf(message);
  const kept = origin[PROVIDER_DATA_KEY];
  return {
    kept: typeof kept === "object" && kept !== null && !Array.isArray(kept)
      ? kept as JsonObject
      : none,
    replay: replayOf(origin) ?? none,
  };
}
