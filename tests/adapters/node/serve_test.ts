import { serve } from "../../../adapters/node/serve.ts";
import { serveContract } from "../serve_contract.ts";

serveContract("node", serve);
