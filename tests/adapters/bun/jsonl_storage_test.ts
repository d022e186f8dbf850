import { JsonlSessionStorage } from "../../../adapters/bun/session_storage.ts";
import { jsonlContract } from "../jsonl_contract.ts";

jsonlContract("bun", (root, options) => new JsonlSessionStorage(root, options));
