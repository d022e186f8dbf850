/** A Worker that uses the server at the address in its query, and answers how that went. */
import { everythingHandler, useEverything } from "./mcp_everything.ts";

export default {
  async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url).searchParams.get("server")!;
    const handler = everythingHandler({ url });
    try {
      await handler.startup();
      await useEverything(handler);
      return new Response("ok");
    } catch (error) {
      return new Response(String(error instanceof Error ? error.stack : error));
    } finally {
      await handler.shutdown();
    }
  },
};
