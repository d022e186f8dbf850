// Floor 1b: the `openai` client sends the request, but the raw Response goes through the SSE splitter of floor-fetch.
import OpenAI from "openai";
import {
  folder,
  loopAgent,
  readJournal,
  toNative,
  wireTool,
} from "./common.mjs";
import { readSse } from "./driver-fetch.mjs";

export const info = {
  name: "floor-openai-raw",
  label: "floor: openai client request + own SSE",
  floor: true,
  packages: ["openai"],
  runtimes: { node: 20, bun: true, deno: true },
  fake: false,
  persist: [],
};
export { toNative };
export function create(o) {
  const client = new OpenAI({ apiKey: "k", baseURL: o.baseURL, maxRetries: 0 });
  const tools = [wireTool(o.tool)];
  return loopAgent(o, async (messages, onDelta) => {
    const f = folder(onDelta);
    const res = await client.chat.completions.create({
      model: "bench",
      messages,
      tools,
      stream: true,
      stream_options: { include_usage: true },
    }).asResponse();
    await readSse(res, f.push);
    return f.end();
  });
}
export const reload = async (o) => readJournal(o).length;
