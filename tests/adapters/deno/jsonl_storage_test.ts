import { JsonlSessionStorage } from "../../../adapters/deno/session_storage.ts";
import { jsonlContract } from "../jsonl_contract.ts";

jsonlContract(
  "deno",
  (root, options) => new JsonlSessionStorage(root, options),
);
