/**
 * What the compiler must make of an agent object that is called by RPC. Checked by
 * `deno check`, never run.
 *
 * @module
 */

import type { AgentObject } from "../../adapters/cloudflare/mod.ts";
import type { ControlReceipt } from "../../src/agent/steering.ts";
import type { AgentRunResult } from "../../src/messages/result.ts";
import type { SessionBranch } from "../../src/session/tree.ts";

type Sendable = undefined | null | boolean | number | string | Response;

/**
 * What the types of Workers let through, as far as it matters here: lists and
 * objects whose members are sent as they are. A member that could be anything is
 * not, and then nothing of the object is.
 */
type Sent<T> =
  | Sendable
  | ReadonlyArray<T extends ReadonlyArray<infer Item> ? Sent<Item> : never>
  | { [K in keyof T]: K extends string | number ? Sent<T[K]> : never };

type Answer<T> = T extends Sent<T> ? Promise<T> : never;

/** An object as its callers see it. */
type Stub<T> = {
  [K in keyof T]: T[K] extends (...input: infer Input) => infer Output
    ? (...input: Input) => Answer<Awaited<Output>>
    : never;
};

/** Uses what every method answers with. */
export async function callAll(chat: Stub<AgentObject>): Promise<unknown[]> {
  const { output, failure, usage } = await chat.run("Hello");
  const contents: (string | null)[] = [];
  for (const message of await chat.history("main")) {
    if (message.role === "user") continue;
    contents.push(message.content);
    if (message.role === "tool") contents.push(message.tool_call_id);
    if (message.role !== "assistant") continue;
    contents.push(message.tool_calls?.[0]?.function.name ?? null);
  }
  const branches: readonly SessionBranch[] = await chat.branches();
  const receipt: ControlReceipt = await chat.steer("Shorter");
  const answers: Response[] = [
    await chat.stream("Hello"),
    await chat.continueStream(),
  ];
  const aborted: boolean = await chat.abort();
  const facts = [output, failure?.retryable, usage.totalTokens];
  return [facts, contents, branches, receipt, answers, aborted];
}

/** Why objects do not answer with results as agents do: their causes could be anything. */
export async function callAgent(
  agent: Stub<{ run(): Promise<AgentRunResult> }>,
): Promise<unknown> {
  // @ts-expect-error Nothing comes of what cannot be sent.
  return (await agent.run()).output;
}
