import { serve } from "../../../adapters/node/serve.ts";
import { httpRunContract } from "../http_run_contract.ts";

httpRunContract("node", serve);
