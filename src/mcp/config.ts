import { isPromiseLike } from "../base/abort.ts";
import { errorText } from "../base/errors.ts";
import { frozenCopy } from "../base/freeze.ts";
import { isJsonObject } from "../base/json.ts";
import {
  address,
  flag,
  headerMap,
  memberOf,
  milliseconds,
  name as nameType,
  provider,
  type Source,
  text,
  textMap,
  texts,
} from "./config_members.ts";
import type { McpOAuthProvider } from "./oauth_provider.ts";
import type { McpTransport } from "./protocol.ts";

/** What every kind of server may say. */
export interface McpServerSettings {
  /** For people. */
  readonly description?: string | undefined;
  /** True leaves the server out. @default {false} */
  readonly disabled?: boolean | undefined;
  /** True makes the start-up fail if the server cannot be connected. @default {false} */
  readonly required?: boolean | undefined;
  /** Milliseconds that a call may take without progress; those of the handler if omitted. */
  readonly timeoutMs?: number | undefined;
}

/** A server that is a child process and talks over its standard streams. */
export interface McpStdioServer extends McpServerSettings {
  /** Tells it from the other kinds. */
  readonly kind: "stdio";
  /** The program. */
  readonly command: string;
  /** Its arguments. */
  readonly args?: readonly string[];
  /** Variables on top of the few that every child process gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its working directory. */
  readonly cwd?: string;
}

/** A server behind an address. */
export interface McpRemoteServer extends McpServerSettings {
  /** Streamable HTTP, or its predecessor. */
  readonly kind: "streamable-http" | "sse";
  /** The address. */
  readonly url: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A token that is sent as `Authorization: Bearer`. */
  readonly auth?: string;
  /** Gets and keeps tokens; a provider of the official SDK. */
  readonly authProvider?: McpOAuthProvider;
}

/** A server behind a transport of yours. */
export interface McpCustomServer extends McpServerSettings {
  /** Tells it from the other kinds. */
  readonly kind: "custom";
  /** Makes a fresh transport for every connection. */
  readonly transport: () => McpTransport | Promise<McpTransport>;
}

/** A server of a configuration that has been read. */
export type McpServer = McpStdioServer | McpRemoteServer | McpCustomServer;

/** A configuration that has been read. */
export interface McpConfig {
  /** Servers by name, in order. */
  readonly mcpServers: Readonly<Record<string, McpServer>>;
}

/**
 * A server as configurations write it; members that are not named here are ignored.
 *
 * With `env` given to the handler, `${NAME}` and `${env:NAME}` stand for a variable, and
 * `${NAME:-otherwise}` for one that may be missing, in all texts of a server but its
 * description.
 */
export interface McpServerInput extends McpServerSettings {
  /** The program of a server that is a child process. */
  readonly command?: string | undefined;
  /** Its arguments. */
  readonly args?: readonly string[] | undefined;
  /** Variables on top of the few that every child process gets. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Its working directory. */
  readonly cwd?: string | undefined;
  /** The address of a remote server. */
  readonly url?: string | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * `"http"` or `"streamable-http"`, `"sse"`, `"stdio"`. A remote server that does not
   * say is `"sse"` if its path has a part of this name, else streamable HTTP.
   */
  readonly type?: string | undefined;
  /** The same as `type`; or, in code, what makes a fresh transport for every connection. */
  readonly transport?:
    | string
    | (() => McpTransport | Promise<McpTransport>)
    | undefined;
  /** A token that is sent as `Authorization: Bearer`. */
  readonly auth?: string | undefined;
  /** In code: gets and keeps tokens; a provider of the official SDK. */
  readonly authProvider?: McpOAuthProvider | undefined;
  /** The same as `timeoutMs`. */
  readonly timeout?: number | undefined;
}

/**
 * Reads a configuration in the format that MCP clients share: `{ "mcpServers": {...} }`,
 * or the servers alone.
 *
 * Reads no files and expands no variables; `${NAME}` is for the handler.
 *
 * @param source JSON text, the parsed JSON, or what this function returned.
 * @throws {TypeError} It is no configuration, or a server has neither `command` nor
 * `url`; the message names the server.
 *
 * @example One server over HTTP
 * ```ts
 * import { parseMcpConfig } from "@ejagent/core/mcp";
 * import { deepEqual } from "node:assert/strict";
 *
 * const { mcpServers } = parseMcpConfig('{"mcpServers":{"docs":{"url":"https://docs.example/mcp"}}}');
 * deepEqual(mcpServers.docs, { kind: "streamable-http", url: "https://docs.example/mcp" });
 * ```
 */
export function parseMcpConfig(source: unknown): McpConfig {
  const root = typeof source === "string" ? parseJson(source) : source;
  const inputs = serverMapIn(root);
  const servers = Object.entries(inputs).map((
    [name, input],
  ) => [name, readServer(name, input)] as const);
  if (servers.length === 0) {
    throw new TypeError("The MCP configuration names no server");
  }
  return Object.freeze({
    mcpServers: Object.freeze(Object.fromEntries(servers)),
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The message of the parser would quote the text, which may hold tokens.
    const place = /line \d+ column \d+/.exec(String(error))?.[0];
    const problem = looksLikePath(text)
      ? "; a file has to be read first, by loadMcpConfig for instance"
      : place === undefined
      ? ""
      : `, see ${place}`;
    throw new TypeError(`The MCP configuration is no JSON${problem}`);
  }
}

/** Reads the text of a file. @throws {TypeError} As `parseMcpConfig`, naming the file. */
export function parseMcpConfigFile(
  text: string,
  path: string | URL,
): McpConfig {
  try {
    return parseMcpConfig(text);
  } catch (error) {
    throw new TypeError(`${errorText(error)}; see ${path}`);
  }
}

function looksLikePath(text: string): boolean {
  return /^[^\n{}[\]"]+\.jsonc?$/.test(text.trim());
}

function serverMapIn(root: unknown): Record<string, unknown> {
  if (isPromiseLike(root)) {
    throw new TypeError("The MCP configuration is a promise; await it");
  }
  if (!isJsonObject(root)) {
    throw new TypeError("The MCP configuration must be an object");
  }
  const { mcpServers, servers } = root;
  if (mcpServers !== undefined) {
    if (isJsonObject(mcpServers)) return mcpServers;
    throw new TypeError("mcpServers must be an object");
  }
  if (Object.values(root).some(isServer)) return root;
  if (isJsonObject(servers)) return servers;
  throw new TypeError("The MCP configuration has no mcpServers");
}

function isServer(value: unknown): boolean {
  return isJsonObject(value) &&
    (value.command !== undefined || value.url !== undefined ||
      typeof value.transport === "function");
}

function readServer(name: string, input: unknown): McpServer {
  if (name.trim() === "") throw new TypeError("An MCP server needs a name");
  if (!isJsonObject(input)) {
    throw new TypeError(`MCP server "${name}" must be an object`);
  }
  const source = { name, input };
  const { transport, command, url } = input;
  if (typeof transport === "function") {
    const make = transport as McpCustomServer["transport"];
    return Object.freeze({
      kind: "custom",
      transport: make,
      ...settingsIn(source),
    });
  }
  if (command !== undefined && url !== undefined) {
    throw new TypeError(`MCP server "${name}" has both command and url`);
  }
  if (command !== undefined) return stdioServer(source);
  if (url !== undefined) return remoteServer(source);
  throw new TypeError(`MCP server "${name}" has neither command nor url`);
}

function stdioServer(source: Source): McpStdioServer {
  const named = namedKind(source);
  if (named !== undefined && named !== "stdio") {
    throw new TypeError(
      `MCP server "${source.name}" names a transport that a command cannot have; use stdio or none`,
    );
  }
  return frozenCopy<McpStdioServer>({
    kind: "stdio",
    command: memberOf(source, "command", nameType)!,
    ...present({
      args: memberOf(source, "args", texts),
      env: memberOf(source, "env", textMap),
      cwd: memberOf(source, "cwd", nameType),
    }),
    ...settingsIn(source),
  });
}

function remoteServer(source: Source): McpRemoteServer {
  const url = String(memberOf(source, "url", address));
  return Object.freeze<McpRemoteServer>({
    kind: remoteKind(source, url),
    url,
    ...present({
      headers: frozenCopy(memberOf(source, "headers", headerMap)),
      auth: memberOf(source, "auth", nameType),
      authProvider: memberOf(source, "authProvider", provider),
    }),
    ...settingsIn(source),
  });
}

function settingsIn(source: Source): McpServerSettings {
  return present({
    description: memberOf(source, "description", text),
    disabled: memberOf(source, "disabled", flag),
    required: memberOf(source, "required", flag),
    timeoutMs: memberOf(source, "timeoutMs", milliseconds) ??
      memberOf(source, "timeout", milliseconds),
  });
}

/** Every name under which clients know the two transports. */
const remoteKinds: Readonly<Record<string, McpRemoteServer["kind"]>> = {
  "http": "streamable-http",
  "streamable-http": "streamable-http",
  "streamable_http": "streamable-http",
  "streamableHttp": "streamable-http",
  "sse": "sse",
};

function remoteKind(source: Source, url: string): McpRemoteServer["kind"] {
  const named = namedKind(source);
  if (named === undefined) {
    return /\/sse(?=[/?#]|$)/.test(url) ? "sse" : "streamable-http";
  }
  const kind = typeof named === "string" && Object.hasOwn(remoteKinds, named)
    ? remoteKinds[named]
    : undefined;
  if (kind !== undefined) return kind;
  throw new TypeError(
    `MCP server "${source.name}" names a transport that a url cannot have; use http or sse`,
  );
}

function namedKind({ input }: Source): unknown {
  return input.kind ?? input.transport ?? input.type;
}

/** An object without the members that are undefined. */
function present<T extends object>(
  members: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) =>
    value !== undefined
  );
  return Object.fromEntries(entries) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
