import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { McpConfig } from "../../src/mcp/config.ts";
import { assertEquals, assertMatch, assertRejects } from "../support/assert.ts";
import type { Runtime } from "../support/runtime.ts";
import { test } from "../support/suite.ts";

/** Tests of the function that reads configuration files of MCP servers. */
export function mcpConfigContract(
  runtime: Runtime,
  loadMcpConfig: (path: string | URL) => Promise<McpConfig>,
): void {
  const options = { runtimes: [runtime] };

  test("an MCP configuration is read by path or URL", options, async () => {
    await withFile('{"mcpServers":{"a":{"command":"b"}}}', async (path) => {
      const expected = { mcpServers: { a: { kind: "stdio", command: "b" } } };
      assertEquals<unknown>(await loadMcpConfig(path), expected);
      assertEquals<unknown>(await loadMcpConfig(pathToFileURL(path)), expected);
    });
  });

  test(
    "a broken MCP configuration does not leak its text",
    options,
    async () => {
      await withFile('{"token": secret', async (path) => {
        const error = await assertRejects(() => loadMcpConfig(path), TypeError);
        assertMatch(
          error.message,
          /^The MCP configuration is no JSON(, see line 1 column \d+)?; see \S.*servers #1\.json$/,
        );
      });
    },
  );

  test("an MCP configuration that is not there", options, async () => {
    await assertRejects(() => loadMcpConfig("no/such/file.json"), Error);
  });
}

async function withFile(
  text: string,
  use: (path: string) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "mcp-config-"));
  try {
    const path = join(directory, "servers #1.json");
    await writeFile(path, text);
    await use(path);
  } finally {
    await rm(directory, { recursive: true });
  }
}
