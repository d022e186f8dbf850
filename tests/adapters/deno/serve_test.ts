import { serve } from "../../../adapters/deno/serve.ts";
import { serveContract } from "../serve_contract.ts";

serveContract("deno", serve);
