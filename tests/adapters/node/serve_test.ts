import { request, type RequestOptions } from "node:http";
import { serve } from "../../../adapters/node/serve.ts";
import { RecordingLogger } from "../../../src/testing/ports.ts";
import { assertEquals, assertRejects } from "../../support/assert.ts";
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
    for (const host of ["no host", "a.test/b?", "a@b.test", "a.test#"]) {
      assertEquals(await statusOf({ headers: { host } }), 400, host);
    }
    assertEquals(await statusOf({ method: "TRACE" }), 400);
  } finally {
    await server.close();
  }
});

test("headers that cannot be sent are a failure of the handler", {
  runtimes: ["node"],
}, async () => {
  const logger = new RecordingLogger();
  // Only a body in chunks may have a trailer.
  const headers = { trailer: "x-sum", "content-length": "2" };
  const server = await serve(() => new Response("ok", { headers }), { logger });
  try {
    const response = await fetch(server.url);
    assertEquals(response.status, 500);
    assertEquals(response.headers.get("trailer"), null);
    assertEquals(await response.text(), "Internal Server Error");
    assertEquals(logger.warnings.map(({ message }) => message), [
      "A request handler failed",
    ]);
  } finally {
    await server.close();
  }
});

test("a body that breaks off is told to the operator", {
  runtimes: ["node"],
}, async () => {
  const logger = new RecordingLogger();
  const error = new Error("secret");
  const body = () =>
    new ReadableStream({ pull: (controller) => controller.error(error) });
  const server = await serve(() => new Response(body()), { logger });
  try {
    await assertRejects(async () => await (await fetch(server.url)).text());
    assertEquals(logger.warnings, [
      { message: "A request handler failed", details: { error } },
    ]);
  } finally {
    await server.close();
  }
});
