import { serve } from "../../../adapters/bun/serve.ts";
import { httpContract } from "../../chat/http_contract.ts";

httpContract("bun", serve);
