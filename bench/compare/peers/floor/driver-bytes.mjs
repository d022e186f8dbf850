// Floor 3: as floor-fetch, but every message is serialised once. The request body is a growing byte
// buffer (prefix + messages), so a turn only encodes what is new and copies the rest.
import {
  folder,
  loopAgent,
  readJournal,
  toNative,
  wireTool,
} from "./common.mjs";
import { readSse } from "./driver-fetch.mjs";

export const info = {
  name: "floor-bytes",
  label: "floor: fetch + cached body bytes",
  floor: true,
  packages: [],
  runtimes: { node: 20, bun: true, deno: true },
  fake: false,
  persist: ["jsonl", "jsonl-fsync"],
};
export { toNative };
export function create(o) {
  const url = `${o.baseURL}/chat/completions`;
  const headers = {
    "content-type": "application/json",
    authorization: "Bearer k",
  };
  const enc = new TextEncoder();
  const tail = enc.encode("]}");
  let buf = new Uint8Array(2048);
  let len = 0;
  let done = 0;
  const put = (s) => {
    const bytes = enc.encode(s);
    if (len + bytes.length + 2 > buf.length) {
      const b = new Uint8Array(
        Math.max(buf.length + (buf.length >> 1), len + bytes.length + 2),
      );
      b.set(buf.subarray(0, len));
      buf = b;
    }
    buf.set(bytes, len);
    len += bytes.length;
  };
  put(
    `{"model":"bench","stream":true,"stream_options":{"include_usage":true},"tools":${
      JSON.stringify([wireTool(o.tool)])
    },"messages":[`,
  );
  return loopAgent(o, async (messages, onDelta) => {
    const f = folder(onDelta);
    // one stringify call for everything new: the whole history on the first turn, one or two messages afterwards
    const fresh = JSON.stringify(done ? messages.slice(done) : messages);
    put((done ? "," : "") + fresh.slice(1, -1));
    done = messages.length;
    buf.set(tail, len);
    const res = await fetch(url, {
      method: "POST",
      headers,
      body: buf.subarray(0, len + 2),
    });
    if (!res.ok) throw new Error(`HTTP ${res.status}`);
    await readSse(res, f.push);
    return f.end();
  });
}
export const reload = async (o) => readJournal(o).length;
