/** What a command printed. */
export interface CommandOutput {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end and keeps what it prints, without colours. */
export async function run(
  command: string,
  args: readonly string[],
  options: {
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<CommandOutput> {
  const child = new Deno.Command(command, {
    args: [...args],
    stdin: "null",
    ...options,
    env: { NO_COLOR: "1", ...options.env },
  });
  const { code, stdout, stderr } = await child.output();
  const decoder = new TextDecoder();
  return {
    code,
    stdout: decoder.decode(stdout),
    stderr: decoder.decode(stderr),
  };
}

/** Runs a subcommand of the Deno that runs this program. */
export function runDeno(...args: readonly string[]): Promise<CommandOutput> {
  return run(Deno.execPath(), args);
}

/** Runs a subcommand of Deno that must succeed, and returns its standard output. */
export async function readFromDeno(
  ...args: readonly string[]
): Promise<string> {
  const { code, stdout, stderr } = await runDeno(...args);
  if (code !== 0) {
    throw new Error(`deno ${args[0]} ended with exit code ${code}\n${stderr}`);
  }
  return stdout;
}
