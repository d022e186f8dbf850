import { serve } from "../../../adapters/deno/serve.ts";
import { a2aContract } from "../a2a_contract.ts";

a2aContract("deno", serve);
