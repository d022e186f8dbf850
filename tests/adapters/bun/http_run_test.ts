import { serve } from "../../../adapters/bun/serve.ts";
import { httpRunContract } from "../http_run_contract.ts";

httpRunContract("bun", serve);
