import { guardHandler, urlOf } from "../../src/http/server.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { assertEquals, assertStrictEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

test("a server is reached by the address that it listens on", () => {
  assertEquals(urlOf("127.0.0.1", 80), "http://127.0.0.1:80");
  assertEquals(urlOf("::1", 8080), "http://[::1]:8080");
  assertEquals(urlOf("0.0.0.0", 8080), "http://localhost:8080");
  assertEquals(urlOf("::", 8080), "http://localhost:8080");
});

test("a guarded handler answers what its handler answers", async () => {
  const response = new Response("fine");
  const guarded = guardHandler(() => response);
  assertStrictEquals(await guarded(new Request("http://test/")), response);
});

test("a failure is the operator's matter unless the client has gone", async () => {
  const logger = new RecordingLogger();
  const error = new Error("secret");
  const guarded = guardHandler(() => {
    throw error;
  }, logger);
  const response = await guarded(new Request("http://test/"));
  assertEquals([response.status, await response.text()], [
    500,
    "Internal Server Error",
  ]);
  assertEquals(logger.warnings, [
    { message: "A request handler failed", details: { error } },
  ]);

  await guarded(new Request("http://test/", { signal: AbortSignal.abort() }));
  assertEquals(logger.warnings.length, 1);
});
