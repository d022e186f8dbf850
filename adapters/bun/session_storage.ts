import { requireObject } from "../../src/base/require.ts";
import {
  JsonlSessionStorage as NodeStorage,
  type JsonlSessionStorageOptions,
} from "../node/session_storage.ts";
import { bunLocks } from "./file_lock.ts";

/**
 * Sessions in files of one JSON record a line, one file a session.
 *
 * As on Node.js, but the kernel's locks need neither a package nor a helper
 * process: Bun calls `flock` itself.
 *
 * @example Keep a session on disk
 * ```ts ignore
 * import { AgentSession } from "@ejagent/core/session";
 * import { JsonlSessionStorage } from "@ejagent/core/bun";
 *
 * const storage = new JsonlSessionStorage("sessions");
 * await storage.save(new AgentSession("chat-1", "assistant"));
 * await storage.close();
 * ```
 */
export class JsonlSessionStorage extends NodeStorage {
  /**
   * Opens nothing yet: files and locks are opened by the calls that need them.
   *
   * @param root The directory of the files; `~` at its start is the home directory.
   * @throws {SessionUnsupportedError} `requireFlock` is set and there is no `flock`.
   * @throws {TypeError} The root is no string, or an option has the wrong type.
   * @throws {RangeError} The root is blank, or an option is out of range.
   */
  constructor(root: string, options: JsonlSessionStorageOptions = {}) {
    const lock = requireObject("The options", options).lock ?? bunLocks();
    super(root, lock === null ? options : { ...options, lock });
  }
}
