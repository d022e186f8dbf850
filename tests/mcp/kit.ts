import {
  McpToolHandler,
  type McpToolHandlerOptions,
} from "../../src/mcp/mod.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { FakeServer, type FakeServerOptions } from "./fake_server.ts";

/** A handler over fake servers, by name. */
export function handlerOver(
  servers: Readonly<Record<string, FakeServer>>,
  options: Partial<McpToolHandlerOptions> = {},
): McpToolHandler {
  return new McpToolHandler({
    servers: Object.fromEntries(
      Object.entries(servers).map((
        [name, { transport }],
      ) => [name, { transport }]),
    ),
    logger: new RecordingLogger(),
    ...options,
  });
}

/** A started handler over one fake server with the name "demo". */
export async function startedDemo(
  server: FakeServerOptions = {},
  options: Partial<McpToolHandlerOptions> = {},
): Promise<{ readonly handler: McpToolHandler; readonly server: FakeServer }> {
  const demo = new FakeServer(server);
  const handler = handlerOver({ demo }, options);
  await handler.startup();
  return { handler, server: demo };
}

/** A server that refuses the handshake. */
export function refusingServer(): FakeServer {
  return new FakeServer({
    initialize: () => {
      throw new Error("out of order");
    },
  });
}
