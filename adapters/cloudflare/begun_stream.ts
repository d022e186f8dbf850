import type { AgentRunStream } from "../../src/pipeline/agent_like.ts";

/**
 * A stream whose run has begun, so that a refusal is thrown here and not in the
 * middle of an answer.
 */
export async function begun(stream: AgentRunStream): Promise<AgentRunStream> {
  const events = stream[Symbol.asyncIterator]();
  let first: ReturnType<typeof events.next> | undefined = events.next();
  await first;
  return {
    finalResult: () => stream.finalResult(),
    close: (reason) => stream.close(reason),
    [Symbol.asyncDispose]: () => stream[Symbol.asyncDispose](),
    [Symbol.asyncIterator]: () => ({
      next() {
        const step = first ?? events.next();
        first = undefined;
        return step;
      },
    }),
  };
}
