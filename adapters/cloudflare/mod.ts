/**
 * Agents and sessions on Cloudflare: an agent in a Durable Object, journals in
 * its database, copies and skills in Workers KV and R2.
 *
 * Choose it for Workers. Bindings and the class `DurableObject` are yours, so
 * nothing here imports a module of the platform, and no compatibility flag is
 * needed. Make agents where a request or an object is handled: what a module
 * holds is shared by requests that must not use each other's connections.
 *
 * Where every session has an object of its own, `ctx.storage.deleteAll()` deletes
 * the session; call it when no run is active, in a method of your class, and end
 * the object with `ctx.abort()`. Which objects there are is yours to keep, in
 * Workers KV or D1 for example: the platform does not list them by name.
 *
 * @example A Worker with an agent for every user
 * ```ts ignore
 * import { defineAgentObject } from "@ejagent/core/cloudflare";
 * import { DurableObject } from "cloudflare:workers";
 *
 * export class Chat extends defineAgentObject(DurableObject<Env>, {
 *   agent: (env) => ({ agentId: "chat", model: modelOf(env) }),
 *   resume: true,
 * }) {}
 *
 * export default {
 *   fetch: (request: Request, env: Env) =>
 *     env.CHAT.getByName(userOf(request)).fetch(request),
 * };
 * ```
 *
 * @module
 */

export {
  type AgentObjectClass,
  type AgentObjectOptions,
  type AgentPlace,
  defineAgentObject,
  type EnvironmentOf,
  type ObjectAgentOptions,
  type ObjectBase,
} from "./agent_object.ts";
export type { AgentObject } from "./agent_routes.ts";
export { ObjectBusyError } from "./object_busy.ts";
export type { ObjectMessage, ObjectRunResult } from "./rpc_types.ts";
export { DurableObjectJournal } from "./sql_journal.ts";
export { DurableObjectSessionStorage } from "./session_storage.ts";
export type {
  ObjectSqlStorage,
  ObjectState,
  ObjectStorage,
  SqlRows,
  SqlStorage,
  SqlValue,
} from "./storage_types.ts";
export { type KvOptions, KvSessionSnapshots } from "./kv_snapshots.ts";
export { KvJournalReplica } from "./kv_replica.ts";
export type { KvList, KvListOptions, KvNamespace } from "./kv_types.ts";
export {
  kvSkillSource,
  type R2Bucket,
  type R2List,
  type R2ListOptions,
  r2SkillSource,
  type SkillStoreOptions,
} from "./skill_sources.ts";
