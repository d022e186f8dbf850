/**
 * What is needed to test programs that use agents without a provider: a model
 * that plays a script, a clock that stands still, a sink that remembers.
 *
 * Nothing here depends on a test runner or a runtime.
 *
 * @example Test an agent
 * ```ts
 * import { Agent } from "@ejagent/core";
 * import { ScriptedModel, text } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const model = new ScriptedModel([text("Hello!")]);
 * const agent = new Agent({ agentId: "greeter", model });
 *
 * equal(await agent.runText("Greet me"), "Hello!");
 * equal(model.contexts[0]?.llmMessages.at(-1)?.content, "Greet me");
 * model.assertDone();
 * ```
 *
 * @module
 */

export {
  answer,
  type AnswerOptions,
  type AnswerStep,
  block,
  type BlockStep,
  calls,
  type CallsOptions,
  deltas,
  type DeltasStep,
  events,
  type EventSource,
  type EventsStep,
  fail,
  type FailStep,
  type ScriptedCall,
  type ScriptRequest,
  type ScriptStep,
  text,
  thinking,
} from "./steps.ts";
export { type Script, ScriptError, type ScriptItem } from "./script.ts";
export {
  ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedRequest,
} from "./scripted_model.ts";
export {
  type EventOf,
  RecordingEventSink,
  type RecordingEventSinkOptions,
  traceOf,
} from "./recording_sink.ts";
export { ManualClock } from "./manual_clock.ts";
export {
  countingIds,
  type RecordedWarning,
  RecordingLogger,
  silentLogger,
} from "./ports.ts";
export {
  type ChatRequestBody,
  type ModelServer,
  modelServer,
  type ModelServerOptions,
} from "./model_server.ts";
export {
  deliver,
  type DeliverStep,
  type Delivery,
  respond,
  type RespondStep,
  type ServerStep,
  sse,
} from "./server_steps.ts";
export { type ContractCase, ContractError } from "./contract.ts";
export { journalContract } from "./journal_contract.ts";
export type { JournalUnderTest } from "./journal_subject.ts";
export { storageContract } from "./storage_contract.ts";
export type { StorageUnderTest } from "./storage_subject.ts";
