import { request, type RequestOptions } from "node:http";
import { serve } from "../../../adapters/node/serve.ts";
import { assertEquals } from "../../support/assert.ts";
import { test } from "../../support/suite.ts";
import { serveContract } from "../serve_contract.ts";

serveContract("node", serve);

test("what no Request can express is a bad request", {
  runtimes: ["node"],
}, async () => {
  const server = await serve(() => new Response("never"));
  const statusOf = (options: RequestOptions) =>
    new Promise((resolve, reject) => {
      request(server.url, options, (reply) => {
        reply.resume();
        resolve(reply.statusCode);
      }).once("error", reject).end();
    });
  try {
    assertEquals(await statusOf({ headers: { host: "no host" } }), 400);
    assertEquals(await statusOf({ method: "TRACE" }), 400);
  } finally {
    await server.close();
  }
});
