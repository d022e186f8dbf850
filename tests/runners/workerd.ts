import { SourceMap } from "node:module";
import { Miniflare } from "miniflare";
import { bundleForWorkerd } from "./bundle.ts";
import { judge, type Runner } from "./outcome.ts";
import type { TestReport } from "./worker.ts";

/** Runs the files inside one Worker without any compatibility flag. */
export const runOnWorkerd: Runner = async (files) => {
  const { code, sourceMap } = await bundleForWorkerd(files);
  const miniflare = new Miniflare({
    modules: [{ type: "ESModule", path: "worker.mjs", contents: code }],
    compatibilityDate: "2026-04-01",
    compatibilityFlags: [],
  });
  const locate = stackLocator(sourceMap);
  const counts = { passed: 0, failed: 0, skipped: 0 };
  let log = "";
  try {
    const response = await miniflare.dispatchFetch("http://tests/");
    if (!response.ok) {
      return judge({ ...counts, log: locate(await response.text()) }, 1);
    }
    for await (const report of readReports(response.body)) {
      counts[report.status] += 1;
      if (report.status !== "failed") continue;
      log += `\nFAILED ${report.name} (${report.file})\n${
        locate(report.error)
      }\n`;
    }
  } catch (error) {
    return judge({ ...counts, log: `${log}\n${locate(String(error))}\n` }, 1);
  } finally {
    await miniflare.dispose();
  }
  return judge({ ...counts, log }, 0);
};

async function* readReports(
  body: AsyncIterable<Uint8Array> | null,
): AsyncGenerator<TestReport> {
  const decoder = new TextDecoder();
  let buffer = "";
  for await (const chunk of body ?? []) {
    buffer += decoder.decode(chunk, { stream: true });
    const lines = buffer.split("\n");
    buffer = lines.pop()!;
    for (const line of lines) yield JSON.parse(line);
  }
}

/** Turns positions inside the bundle back into files and lines of the project. */
function stackLocator(sourceMap: string): (stack: string) => string {
  const map = new SourceMap(JSON.parse(sourceMap));
  return (stack) =>
    stack.replace(
      /[^\s(]*worker\.mjs:(\d+):(\d+)/g,
      (position, line, column) => {
        const entry = map.findEntry(Number(line) - 1, Number(column) - 1);
        if (!("originalSource" in entry)) return position;
        const file = entry.originalSource.replace(/^(\.\.\/)+/, "");
        return `${file}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
      },
    );
}
