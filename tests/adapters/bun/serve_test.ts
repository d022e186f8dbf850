import { serve } from "../../../adapters/bun/serve.ts";
import { serveContract } from "../serve_contract.ts";

serveContract("bun", serve);
