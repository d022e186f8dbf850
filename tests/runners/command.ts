/** The end of a child process. */
export interface Finished {
  readonly code: number;
  /** Standard output and standard error, in that order, without colours. */
  readonly log: string;
}

/** Runs a command to its end and keeps what it prints. */
export async function runCommand(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  const child = new Deno.Command(command, {
    args: [...args],
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return { code, log: decoder.decode(stdout) + decoder.decode(stderr) };
}

/** The number before or after a word in a runner's summary; 0 if the word is missing. */
export function countOf(log: string, pattern: RegExp): number {
  // The summary is the last match: a test may print the same words.
  return Number([...log.matchAll(pattern)].at(-1)?.[1] ?? 0);
}
