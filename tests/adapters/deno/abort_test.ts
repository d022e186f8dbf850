import { serve } from "../../../adapters/deno/serve.ts";
import { httpAbortContract } from "../abort_contract.ts";

httpAbortContract("deno", serve, {
  what: "an interrupted exchange leaves nothing open over a connection",
  case: ["B51", "B55"],
});
