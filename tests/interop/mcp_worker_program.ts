/** Lets a Worker use a server over the network of this machine. */
import { build, stop } from "esbuild";
import { Miniflare } from "miniflare";
import { exit } from "node:process";
import { assertEquals } from "../support/assert.ts";
import { startEverything } from "./mcp_servers.ts";

const { outputFiles } = await build({
  entryPoints: ["tests/interop/mcp_worker.ts"],
  bundle: true,
  write: false,
  format: "esm",
  platform: "browser",
  target: "es2022",
  conditions: ["workerd", "worker", "browser"],
});
await stop();

const server = await startEverything("streamableHttp");
const miniflare = new Miniflare({
  modules: [{
    type: "ESModule",
    path: "worker.mjs",
    contents: outputFiles[0]!.text,
  }],
  compatibilityDate: "2026-04-01",
});
try {
  const address = `http://worker/?server=${encodeURIComponent(server.url)}`;
  const response = await miniflare.dispatchFetch(address);
  assertEquals(await response.text(), "ok");
} finally {
  await miniflare.dispose();
  await server.stop();
}
exit();
