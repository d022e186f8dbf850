import { isUnknownSession, serverFailure } from "../../src/mcp/failure.ts";
import { assertEquals } from "../support/assert.ts";
import { test } from "../support/suite.ts";

const refusal = (code: number, body: string) =>
  Object.assign(
    new Error(`Streamable HTTP error: Error POSTing to endpoint: ${body}`),
    { code },
  );

const rpcError = (id: unknown, message: string) =>
  JSON.stringify({ jsonrpc: "2.0", error: { code: -32000, message }, id });

test("a forgotten session is known by its status or by words that mean nothing else", () => {
  const forgotten = [
    refusal(404, "anything"),
    refusal(400, "Bad Request: No valid session ID provided"),
    refusal(400, "Invalid session ID\n"),
    refusal(400, rpcError(null, "Bad Request: Server not initialized")),
    refusal(400, rpcError(null, "Bad Request: No valid session ID provided")),
    new Error("Error POSTing to endpoint (HTTP 404): Session not found"),
    new Error("Error POSTing to endpoint (HTTP 400): Session not found"),
  ];
  // Any of these may come after the call was carried out.
  const others = [
    refusal(400, "The report of session id 7 was sent, but not stored"),
    refusal(400, rpcError(7, "Bad Request: Server not initialized")),
    refusal(400, rpcError(null, "No row for this session id")),
    refusal(400, "null"),
    refusal(500, "Bad Request: No valid session ID provided"),
    new Error("Bad Request: Server not initialized"),
  ];
  assertEquals(forgotten.map(isUnknownSession), forgotten.map(() => true));
  assertEquals(others.map(isUnknownSession), others.map(() => false));
});

test("addresses are told without what may be a key", () => {
  const told = (text: string) => serverFailure(new Error(text), "demo").message;
  assertEquals(
    told(
      "https://h.example/mcp?api_key=sesame does not match https://user:sesame@h.example/a#sesame, nor https://h.example/b",
    ),
    "https://h.example/mcp does not match https://h.example/a nor https://h.example/b",
  );
  assertEquals(told("At 'http://[?sesame'"), "At 'an address'");
});
