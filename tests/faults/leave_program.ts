/** `leave_program.ts ROOT`: writes to a session and ends without closing the storage. */
import { argv } from "node:process";
import { AgentSession } from "../../src/session/session.ts";
import { openStorage } from "./platform.ts";

const storage = await openStorage(argv[2]!);
const { revision } = await storage.save(new AgentSession("s", "A"));
console.log(`saved ${revision}`);
