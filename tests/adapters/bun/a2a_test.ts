import { serve } from "../../../adapters/bun/serve.ts";
import { a2aContract } from "../a2a_contract.ts";

a2aContract("bun", serve);
