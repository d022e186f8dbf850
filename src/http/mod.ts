/**
 * Shows runs over HTTP, as server-sent events.
 *
 * Choose this entry to serve an agent to a front end of your own; agents of
 * others speak A2A. Servers that listen are in the entries of the platforms.
 *
 * @example Any server with a fetch handler
 * ```ts
 * import { Agent } from "@ejagent/core";
 * import { toEventStream } from "@ejagent/core/http";
 * import { ScriptedModel, text } from "@ejagent/core/testing";
 * import { equal } from "node:assert/strict";
 *
 * const agent = new Agent({ agentId: "a", model: new ScriptedModel([text("Hi")]) });
 * const response = toEventStream(agent.stream("Hello"));
 *
 * equal(response.headers.get("content-type"), "text/event-stream");
 * await response.body?.cancel();
 * ```
 *
 * @module
 */

export { type EventStreamOptions, toEventStream } from "./event_stream.ts";
