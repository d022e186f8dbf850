import {
  calls,
  type ScriptRequest,
  type ScriptStep,
  text,
} from "../../../src/testing/steps.ts";

/** The provider outside of the Workers: it looks up an order that it is asked for, and repeats what it reads. */
export function answerFromOutside({ messages }: ScriptRequest): ScriptStep {
  const { role, content } = messages.at(-1)!;
  const [, number] = /order (\d+)/.exec(String(content)) ?? [];
  if (role === "tool") return text(`It says ${content}`);
  return number === undefined
    ? text("From outside")
    : calls([{ name: "find_order", arguments: { number: Number(number) } }]);
}
