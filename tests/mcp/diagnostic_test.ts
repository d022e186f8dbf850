import { McpDiagnostics } from "../../src/mcp/diagnostic.ts";
import { RecordingLogger } from "../../src/testing/ports.ts";
import { assertEquals } from "../support/assert.ts";
import { settle } from "../support/fake_time.ts";
import { test } from "../support/suite.ts";

const failed = (message: string) =>
  ({ kind: "server_failed", server: "demo", message }) as const;

test("diagnostics are kept once, and only so many", () => {
  const logger = new RecordingLogger();
  const diagnostics = new McpDiagnostics(logger, undefined);
  const thousand = Array.from(
    { length: 1000 },
    (_, n) => failed(`reason ${n}`),
  );
  for (const one of [...thousand, ...thousand]) diagnostics.report(one);
  assertEquals(diagnostics.all.length, 1000);

  for (let n = 0; n < 3; n++) diagnostics.report(failed(`other reason ${n}`));
  assertEquals(diagnostics.all.length, 1001);
  assertEquals(diagnostics.all.at(-1), {
    kind: "too_many",
    server: "",
    message: "Only the first 1000 diagnostics are kept",
  });
  assertEquals(logger.warnings.length, 1001);
  diagnostics.clear();
  diagnostics.report(failed("again"));
  assertEquals(diagnostics.all.length, 1);
});

test("whoever is told may fail, now or later", async () => {
  const logger = new RecordingLogger();
  const throwing = new McpDiagnostics(logger, () => {
    throw new Error("boom");
  });
  throwing.report(failed("a"));
  const rejecting = new McpDiagnostics(
    logger,
    () => Promise.reject(new Error("bang")) as never,
  );
  rejecting.report(failed("b"));
  await settle();
  const deaf = new McpDiagnostics({
    warn() {
      throw new Error("deaf");
    },
  }, undefined);
  deaf.report(failed("c"));
  assertEquals(
    [throwing, rejecting, deaf].map(({ all }) => all.length),
    [1, 1, 1],
  );
  assertEquals(
    logger.warnings.map(({ message, details }) => [message, details?.error]),
    [
      ["An MCP server is not connected", undefined],
      ["onDiagnostic failed", "boom"],
      ["An MCP server is not connected", undefined],
      ["onDiagnostic failed", "bang"],
    ],
  );
});
