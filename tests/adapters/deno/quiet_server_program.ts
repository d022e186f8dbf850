/**
 * Serves requests whose handler looks at their signal: one to the end, one
 * whose client leaves. Says so, and nothing else.
 *
 * @module
 */

import { serve } from "../../../adapters/deno/serve.ts";

let enter = () => {};
let leave = () => {};
const entered = new Promise<void>((resolve) => enter = resolve);
const left = new Promise<void>((resolve) => leave = resolve);

const server = await serve(({ url, signal }) => {
  signal.addEventListener("abort", () => leave());
  if (!url.endsWith("/hang")) return new Response("whole");
  enter();
  return new Promise(() => {});
});
console.log(await (await fetch(server.url)).text());

const client = new AbortController();
const hanging = fetch(`${server.url}/hang`, { signal: client.signal });
await entered;
client.abort();
await hanging.catch(() => {});
await left;
console.log("left");
await server.close();
