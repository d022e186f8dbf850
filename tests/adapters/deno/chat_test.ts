import { serve } from "../../../adapters/deno/serve.ts";
import { httpContract } from "../../chat/http_contract.ts";

httpContract("deno", serve);
