import { serve } from "../../../adapters/deno/serve.ts";
import { httpAbortContract } from "../abort_contract.ts";

httpAbortContract("deno", serve);
