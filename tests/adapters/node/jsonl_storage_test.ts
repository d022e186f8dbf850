import { JsonlSessionStorage } from "../../../adapters/node/session_storage.ts";
import { jsonlContract } from "../jsonl_contract.ts";

jsonlContract(
  "node",
  (root, options) => new JsonlSessionStorage(root, options),
);
