import { serve } from "../../../adapters/deno/serve.ts";
import { httpRunContract } from "../http_run_contract.ts";

httpRunContract("deno", serve);
