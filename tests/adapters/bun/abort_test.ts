import { serve } from "../../../adapters/bun/serve.ts";
import { httpAbortContract } from "../abort_contract.ts";

httpAbortContract("bun", serve);
