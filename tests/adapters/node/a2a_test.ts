import { serve } from "../../../adapters/node/serve.ts";
import { a2aContract } from "../a2a_contract.ts";

a2aContract("node", serve);
