import { canonicalJson } from "../base/json.ts";
import type { McpConnection } from "./connection.ts";
import type { ReportDiagnostic } from "./diagnostic.ts";
import { exposedToolNames, type RawToolName } from "./names.ts";
import type { McpToolChanges } from "./options.ts";
import type { McpTool } from "./protocol.ts";

/** Where a call of a tool goes. */
export interface Route {
  /** The server. */
  readonly connection: McpConnection;
  /** The tool under the name that the model sees. */
  readonly tool: McpTool;
}

/** Routes by the names that the model sees. */
export type Routes = ReadonlyMap<string, Route>;

/**
 * The routes to all tools as they are now, connection by connection.
 *
 * @param before A name that leads to a tool here never leads to another one.
 */
export function routesOf(
  connections: readonly McpConnection[],
  before: Routes,
  report: ReportDiagnostic,
): Routes {
  const all = connections.flatMap((connection) =>
    connection.tools.map((tool) => ({ connection, tool }))
  );
  const names = exposedToolNames(
    all.map(({ connection, tool }) => rawNameOf(connection, tool.name)),
    new Map(
      [...before].map(([name, { connection, tool }]) => [
        name,
        rawNameOf(connection, tool.toolName!),
      ]),
    ),
  );
  const routes = new Map<string, Route>();
  all.forEach(({ connection, tool }, index) => {
    const name = names[index];
    if (name === undefined || routes.has(name)) {
      report({
        kind: "tool_left_out",
        server: connection.name,
        toolName: tool.name,
        message: name === undefined
          ? "Its name stands for another tool"
          : `Another server has the tool ${name}`,
      });
    } else {
      const exposed = Object.freeze({ ...tool, name });
      routes.set(name, { connection, tool: exposed });
    }
  });
  return routes;
}

function rawNameOf({ name }: McpConnection, tool: string): RawToolName {
  return { server: name, tool };
}

/** How the tools of one connection changed; undefined if they did not. */
export function toolChanges(
  before: Routes,
  after: Routes,
  connection: McpConnection,
): McpToolChanges | undefined {
  const old = toolsOf(before, connection);
  const now = toolsOf(after, connection);
  const added = [...now.keys()].filter((name) => !old.has(name));
  const removed = [...old.keys()].filter((name) => !now.has(name));
  const changed = [...now.keys()].filter((name) =>
    old.has(name) &&
    canonicalJson(old.get(name)) !== canonicalJson(now.get(name))
  );
  return added.length + removed.length + changed.length === 0
    ? undefined
    : { added, removed, changed };
}

function toolsOf(
  routes: Routes,
  connection: McpConnection,
): ReadonlyMap<string, McpTool> {
  return new Map(
    [...routes]
      .filter(([, route]) => route.connection === connection)
      .map(([name, { tool }]) => [name, tool]),
  );
}
