import { env, stdin, stdout } from "node:process";
import { createInterface } from "node:readline/promises";

/** Writes without a line end. */
export function write(text: string): void {
  stdout.write(text);
}

/** The lines that a person types; without a terminal the given ones. */
export async function* lines(
  prompt: string,
  scripted: readonly string[],
): AsyncGenerator<string, void, void> {
  if (!stdin.isTTY) {
    for (const line of scripted) {
      console.log(prompt + line);
      yield line;
    }
    return;
  }
  const terminal = createInterface({ input: stdin, output: stdout });
  terminal.once("SIGINT", () => terminal.close());
  terminal.setPrompt(prompt);
  terminal.prompt();
  for await (const line of terminal) {
    if (line.trim() !== "") yield line;
    terminal.prompt();
  }
  write("\n");
}

/** Colours a text if the output is a terminal that wants colours. */
export const paint: Readonly<
  Record<"dim" | "bold" | "cyan" | "green" | "yellow", (text: string) => string>
> = {
  dim: painter(2, 22),
  bold: painter(1, 22),
  cyan: painter(36, 39),
  green: painter(32, 39),
  yellow: painter(33, 39),
};

function painter(start: number, end: number): (text: string) => string {
  const wanted = stdout.isTTY && !env.NO_COLOR;
  return (text) => wanted ? `\x1b[${start}m${text}\x1b[${end}m` : text;
}
