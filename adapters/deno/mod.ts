/**
 * What the core needs from Deno: sessions in files, a server and the environment.
 *
 * A storage neither lists nor deletes sessions; its directory does. Each is a file
 * of its own, `<SHA-256 of the id>.jsonl`, whose first line names it as
 * `session_id`; removing the file deletes a session that no agent uses. What ends
 * in `.lock` stays where it is.
 *
 * @example Let the environment choose the model
 * ```ts ignore
 * import { Agent } from "@ejagent/core";
 * import { ChatModelAdapter, modelConfigFromEnv } from "@ejagent/core/chat";
 * import { environment } from "@ejagent/core/deno";
 *
 * const model = new ChatModelAdapter(modelConfigFromEnv(environment()));
 * const agent = new Agent({ agentId: "assistant", model });
 * console.log(await agent.runText("Hello"));
 * ```
 *
 * @module
 */

export { environment } from "./env.ts";
export { serve } from "./serve.ts";
export type {
  FetchHandler,
  HttpServer,
  ServeOptions,
} from "../../src/http/server.ts";
export type { ModelEnvironment } from "../../src/chat/config.ts";
export { JsonlSessionStorage } from "./session_storage.ts";
export type { JsonlSessionStorageOptions } from "./session_storage.ts";
export type { FileJournalOptions } from "../../src/session/file_journal.ts";
export type { FsyncMode } from "../../src/session/file_appender.ts";
export type {
  FileLock,
  FileLockKind,
  FileLocks,
} from "../../src/session/file_lock.ts";
export { loadMcpConfig } from "./mcp_config.ts";
export type {
  McpConfig,
  McpCustomServer,
  McpRemoteServer,
  McpServer,
  McpServerSettings,
  McpStdioServer,
} from "../../src/mcp/config.ts";
export type { McpOAuthProvider } from "../../src/mcp/oauth_provider.ts";
export type { McpTransport } from "../../src/mcp/protocol.ts";
export { bundleSkills, fsSkillSource } from "./skill_directory.ts";
export type { BundleSkillsOptions } from "../../src/skills/bundle.ts";
export type {
  SkillFolder,
  SkillFolderOptions,
} from "../../src/skills/folder.ts";
export type { SkillManifest } from "../../src/skills/source.ts";
