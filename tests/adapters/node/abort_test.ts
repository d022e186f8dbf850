import { serve } from "../../../adapters/node/serve.ts";
import { httpAbortContract } from "../abort_contract.ts";

httpAbortContract("node", serve, {
  what: "an interrupted exchange leaves nothing open over a connection",
  case: ["B51", "B55"],
});
