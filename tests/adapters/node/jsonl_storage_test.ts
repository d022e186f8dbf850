import {
  JsonlSessionStorage,
  type JsonlSessionStorageOptions,
} from "../../../adapters/node/session_storage.ts";
import { assertThrows } from "../../support/assert.ts";
import { test } from "../../support/suite.ts";
import { jsonlContract } from "../jsonl_contract.ts";

jsonlContract(
  "node",
  (root, options) => new JsonlSessionStorage(root, options),
);

test("a lock that is none is named", { runtimes: ["node"] }, () => {
  for (const lock of ["flock", { open() {} }] as unknown[]) {
    const options = { lock } as JsonlSessionStorageOptions;
    const open = () => new JsonlSessionStorage("sessions", options);
    assertThrows(open, TypeError, "lock");
  }
});
