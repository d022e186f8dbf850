import { realpath, writeFile } from "node:fs/promises";
import { stdioTransport } from "../../adapters/node/mcp_stdio.ts";
import { McpToolError, McpToolHandler } from "../../src/mcp/mod.ts";
import { inDirectory } from "../faults/processes.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { callEveryTool, type ExpectedCall } from "./mcp_every_tool.ts";
import { npmServer } from "./mcp_servers.ts";

/** A folder that the filesystem server is given, and a file outside it. */
export async function useFilesystem(): Promise<void> {
  await inDirectory(async (given) => {
    const directory = await realpath(given);
    await writeFile(`${directory}/dot.png`, picture);
    const server = npmServer("server-filesystem", directory);
    const handler = new McpToolHandler({
      servers: { files: { ...server, required: true } },
      stdio: stdioTransport,
    });
    await handler.startup();
    try {
      assertEquals(handler.diagnostics, []);
      await callEveryTool(handler, callsIn(directory));
      await assertRejects(
        () => handler.dispatch("files__read_text_file", { path: "/etc/hosts" }),
        McpToolError,
        "Access denied",
      );
    } finally {
      await handler.shutdown();
    }
  });
}

// The server tells pictures by the name of their file.
const picture = Uint8Array.of(1, 2, 3, 4);

function callsIn(directory: string): readonly ExpectedCall[] {
  const notes = `${directory}/notes`;
  const list = `${notes}/list.txt`;
  const content = (text: string) => ({ content: text });
  return [
    {
      tool: "list_allowed_directories",
      data: content(`Allowed directories:\n${directory}`),
    },
    {
      tool: "create_directory",
      arguments: { path: notes },
      data: content(`Successfully created directory ${notes}`),
    },
    {
      tool: "write_file",
      arguments: { path: list, content: "one\ntwo\nthree\n" },
      data: content(`Successfully wrote to ${list}`),
    },
    {
      tool: "read_file",
      arguments: { path: list },
      data: content("one\ntwo\nthree\n"),
    },
    {
      tool: "edit_file",
      arguments: { path: list, edits: [{ oldText: "two", newText: "2" }] },
      data: /\\n-two\\n\+2\\n/,
    },
    {
      tool: "read_text_file",
      arguments: { path: list, head: 2 },
      data: content("one\n2"),
    },
    {
      tool: "read_media_file",
      arguments: { path: `${directory}/dot.png` },
      data: {
        structuredContent: {
          content: [{ type: "image", data: "4 bytes", mimeType: "image/png" }],
        },
        content: [{ type: "image", mimeType: "image/png", bytes: 4 }],
      },
    },
    {
      tool: "read_multiple_files",
      arguments: { paths: [list, `${notes}/none.txt`] },
      data: /one\\n2\\nthree.*none\.txt: Error/,
    },
    {
      tool: "list_directory",
      arguments: { path: directory },
      // The order is that of the file system, here and in the tree.
      data: (data: { readonly content: string }) =>
        assertEquals(data.content.split("\n").sort(), [
          "[DIR] notes",
          "[FILE] dot.png",
        ]),
    },
    {
      tool: "list_directory_with_sizes",
      arguments: { path: directory, sortBy: "size" },
      data: /\[FILE\] dot\.png +4 B/,
    },
    {
      tool: "directory_tree",
      arguments: { path: directory },
      data: (data: { readonly content: string }) =>
        assertEquals(
          JSON.parse(data.content).sort(byName),
          [
            { name: "dot.png", type: "file" },
            {
              name: "notes",
              type: "directory",
              children: [{ name: "list.txt", type: "file" }],
            },
          ],
        ),
    },
    {
      tool: "move_file",
      arguments: { source: list, destination: `${directory}/list.md` },
      data: content(`Successfully moved ${list} to ${directory}/list.md`),
    },
    {
      tool: "search_files",
      arguments: { path: directory, pattern: "*.md" },
      data: content(`${directory}/list.md`),
    },
    {
      tool: "get_file_info",
      arguments: { path: `${directory}/list.md` },
      data: (data: { readonly content: string }) =>
        assert(/^size: 12\n/.test(data.content)),
    },
  ];
}

function byName(
  left: { readonly name: string },
  right: { readonly name: string },
): number {
  return left.name < right.name ? -1 : 1;
}
