import {
  type CollectedTest,
  collectedTests,
  takeFloatingRejections,
} from "../support/suite.ts";

/** One line of the Worker's answer. */
export type TestReport =
  | {
    readonly status: "passed" | "skipped";
    readonly name: string;
    readonly file: string;
  }
  | {
    readonly status: "failed";
    readonly name: string;
    readonly file: string;
    readonly error: string;
  };

const owners = new Map<CollectedTest, string>();
const loadFailures: TestReport[] = [];

/** Imports a test file in the global scope, where no I/O is allowed; a failure does not stop the others. */
export async function load(
  file: string,
  importFile: () => Promise<unknown>,
): Promise<void> {
  try {
    await importFile();
  } catch (error) {
    loadFailures.push({
      status: "failed",
      name: "The file loads",
      file,
      error: describe(error),
    });
  }
  for (const entry of collectedTests) {
    if (!owners.has(entry)) owners.set(entry, file);
  }
}

/** Answers any request by running every test; one JSON line for each as it ends. */
export function serve(): Response {
  const encoder = new TextEncoder();
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const run = async () => {
    for await (const report of reports()) {
      await writer.write(encoder.encode(`${JSON.stringify(report)}\n`));
    }
    await writer.close();
  };
  run().catch((error) => writer.abort(error));
  return new Response(readable);
}

async function* reports(): AsyncGenerator<TestReport> {
  yield* loadFailures;
  const focused = collectedTests.some((entry) => entry.only);
  for (const entry of collectedTests) {
    const file = owners.get(entry) ?? "unknown file";
    if (entry.skip || focused && !entry.only) {
      yield { status: "skipped", name: entry.name, file };
    } else yield await runOne(entry, file);
  }
  // What the last test left behind has no later test to fail.
  await new Promise((resolve) => setTimeout(resolve, 0));
  for (const reason of takeFloatingRejections()) {
    const name = "No promise is left rejected";
    yield {
      status: "failed",
      name,
      file: "unknown file",
      error: describe(reason),
    };
  }
}

async function runOne(entry: CollectedTest, file: string): Promise<TestReport> {
  const { name } = entry;
  try {
    await entry.run();
    return { status: "passed", name, file };
  } catch (error) {
    return { status: "failed", name, file, error: describe(error) };
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.stack ?? String(error) : String(error);
}
