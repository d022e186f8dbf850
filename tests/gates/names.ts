import { platforms } from "./architecture.ts";
import { namesUsed, type Source } from "./sources.ts";

/** Names that one runtime has and another lacks, or that Node 20 lacks. */
const platformNames: ReadonlySet<string> = new Set([
  "Deno",
  "Bun",
  "process",
  "Buffer",
  "require",
  "module",
  "__dirname",
  "__filename",
  "global",
  "setImmediate",
  "clearImmediate",
  "window",
  "self",
  "document",
  "location",
  "navigator",
  "localStorage",
  "sessionStorage",
  "caches",
  "indexedDB",
  "alert",
  "confirm",
  "prompt",
  "WebSocket",
  "WebSocketPair",
  "EventSource",
  "XMLHttpRequest",
  "Worker",
  "SharedWorker",
  "HTMLRewriter",
  "eval",
  "AsyncDisposableStack",
  "DisposableStack",
]);

/** The uses of platform names in a file, except those that the file's own platform allows. */
export function strayNames(source: Source): string[] {
  const [area, room] = source.path.split("/");
  const allowed = area === "adapters" ? platforms[room!]?.globals ?? [] : [];
  return namesUsed(source)
    .filter(({ name }) => platformNames.has(name) && !allowed.includes(name))
    .map(({ name, place }) =>
      `${place} uses ${name}, which some runtimes lack; it belongs in ${
        homeOf(name)
      }`
    );
}

function homeOf(name: string): string {
  const home = Object.keys(platforms).find((key) =>
    platforms[key]!.globals.includes(name)
  );
  return home === undefined ? "no published file" : `adapters/${home}`;
}
