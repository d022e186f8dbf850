import { serve } from "../../../adapters/bun/serve.ts";
import { httpAbortContract } from "../abort_contract.ts";

httpAbortContract("bun", serve, {
  what: "an interrupted exchange leaves nothing open over a connection",
  case: ["B51", "B55"],
});
