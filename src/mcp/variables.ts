import type { McpServer } from "./config.ts";
import { McpServerError } from "./errors.ts";

/**
 * Values for `${NAME}`, `${env:NAME}` and `${NAME:-otherwise}` in configurations, the
 * environment of the program for instance. A server that needs one which is missing fails.
 */
export type McpVariables = Readonly<Record<string, string | undefined>>;

/**
 * Fills in `${NAME}`, `${env:NAME}` and `${NAME:-otherwise}` in the program, its
 * arguments, directory and variables, or the headers, the address and the token.
 *
 * @throws {McpServerError} A variable is not defined; the message names it.
 */
export function withVariables(
  name: string,
  server: McpServer,
  variables: McpVariables,
): McpServer {
  const fill = (text: string) => expand(name, text, variables);
  const fillAll = (texts: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(
      Object.entries(texts).map(([key, text]) => [key, fill(text)]),
    );
  switch (server.kind) {
    case "custom":
      return server;
    case "stdio": {
      const { args, cwd } = server;
      return {
        ...server,
        command: fill(server.command),
        env: fillAll(server.env),
        ...(args !== undefined && { args: args.map(fill) }),
        ...(cwd !== undefined && { cwd: fill(cwd) }),
      };
    }
    case "streamable-http":
    case "sse": {
      const { auth } = server;
      return {
        ...server,
        url: fill(server.url),
        headers: fillAll(server.headers),
        ...(auth !== undefined && { auth: fill(auth) }),
      };
    }
  }
}

const reference = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

function expand(
  server: string,
  text: string,
  variables: McpVariables,
): string {
  return text.replace(reference, (_, name: string, otherwise?: string) => {
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value !== undefined) return value;
    if (otherwise !== undefined) return otherwise;
    throw new McpServerError(
      `MCP server ${server} needs the variable ${name}, which is not defined`,
      { server },
    );
  });
}
