import { serve } from "../../../adapters/node/serve.ts";
import { httpAbortContract } from "../abort_contract.ts";

httpAbortContract("node", serve);
