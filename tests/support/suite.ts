import { type Runtime, runtime } from "./runtime.ts";

/** The body of a test. A rejection, or a promise it leaves rejected and unhandled, fails it. */
export type TestBody = () => void | Promise<void>;

/** How a test is registered. */
export interface TestOptions {
  /** Acceptance cases that the test carries; listed with their files in `tests/ACCEPTANCE.md`. */
  readonly case?: string | readonly string[];
  /** Where the test runs; elsewhere it is reported as skipped. Omitted means everywhere. */
  readonly runtimes?: readonly Runtime[];
  /** Reports the test as skipped on every runtime. */
  readonly skip?: boolean;
  /** Runs only the tests so marked; Deno then counts the whole run as failed, so it cannot be left in. */
  readonly only?: boolean;
  /** Milliseconds until the test counts as failed. */
  readonly timeoutMs?: number;
}

/** A registered test, as the Worker that has no runner of its own sees it. */
export interface CollectedTest {
  readonly name: string;
  readonly skip: boolean;
  readonly only: boolean;
  readonly run: () => Promise<void>;
}

/** The tests registered so far on workerd; empty elsewhere. */
export const collectedTests: CollectedTest[] = [];

const defaultTimeoutMs = 30_000;

// Taken at import, so that tests may replace the globals.
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis;

/** Registers a test with whichever runner hosts this module. */
export function test(name: string, body: TestBody): void;
/** Registers a test with its acceptance cases, runtimes and limits. */
export function test(name: string, options: TestOptions, body: TestBody): void;
export function test(
  name: string,
  first: TestOptions | TestBody,
  second?: TestBody,
): void {
  const options = typeof first === "function" ? {} : first;
  const body = typeof first === "function" ? first : second;
  if (body === undefined) throw new TypeError(`Test "${name}" has no body`);

  const here = options.runtimes === undefined ||
    options.runtimes.includes(runtime);
  register({
    name: titleOf(name, options),
    skip: options.skip === true || !here,
    only: options.only === true,
    run: () => runGuarded(body, options.timeoutMs ?? defaultTimeoutMs),
  });
}

/** The reasons of promises that were rejected and that nobody handled since the last call. */
export function takeFloatingRejections(): unknown[] {
  return floatingRejections.splice(0);
}

const register = await findRunner();
const floatingRejections: unknown[] = [];
let runningCount = 0;
watchFloatingRejections();

function titleOf(name: string, options: TestOptions): string {
  const cases = [options.case ?? []].flat();
  return cases.length === 0 ? name : `${name} [${cases.join(" ")}]`;
}

async function runGuarded(body: TestBody, timeoutMs: number): Promise<void> {
  runningCount += 1;
  try {
    await raceTimeout(body, timeoutMs);
    // Runtimes announce an unhandled rejection after the microtasks of its tick.
    await new Promise<void>((resolve) => startTimer(resolve, 0));
  } finally {
    runningCount -= 1;
  }
  const [reason] = takeFloatingRejections();
  if (reason === undefined) return;
  throw new Error(`A promise was rejected and nobody handled it: ${reason}`, {
    cause: reason,
  });
}

async function raceTimeout(body: TestBody, timeoutMs: number): Promise<void> {
  let timer: ReturnType<typeof startTimer> | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    const error = new Error(`The test did not end within ${timeoutMs} ms`);
    timer = startTimer(() => reject(error), timeoutMs);
  });
  try {
    await Promise.race([(async () => await body())(), expired]);
  } finally {
    stopTimer(timer);
  }
}

/** Node and Bun fail the running test by themselves; Deno would end the whole file, workerd would say nothing. */
function watchFloatingRejections(): void {
  if (runtime !== "deno" && runtime !== "workerd") return;
  globalThis.addEventListener("unhandledrejection", (event) => {
    // Between tests, and while a file loads, the end of the file is the right answer on Deno.
    if (runtime === "deno" && runningCount === 0) return;
    event.preventDefault();
    floatingRejections.push(event.reason ?? new Error("The reason is missing"));
  });
}

type Register = (collected: CollectedTest) => void;

// The specifiers are variables, so that no bundler resolves another runtime's module.
async function findRunner(): Promise<Register> {
  switch (runtime) {
    case "deno":
      return ({ name, skip, only, run }) =>
        Deno.test({
          name,
          ignore: skip,
          only,
          // All three are off by default.
          sanitizeOps: true,
          sanitizeResources: true,
          sanitizeExit: true,
          fn: run,
        });
    case "node": {
      const specifier = "node:test";
      const runner = await import(specifier);
      return ({ name, skip, only, run }) =>
        runner.test(name, { skip, only }, () => run());
    }
    case "bun": {
      const specifier = "bun:test";
      const runner = await import(specifier);
      return ({ name, skip, only, run }) => {
        const add = skip
          ? runner.test.skip
          : only
          ? runner.test.only
          : runner.test;
        // The kit's own limit is the one that counts; Bun's default of five seconds would cut it short.
        add(name, run, 3_600_000);
      };
    }
    case "workerd":
      return (collected) => collectedTests.push(collected);
  }
}
