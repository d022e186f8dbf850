import { serve } from "../../../adapters/node/serve.ts";
import { httpContract } from "../../chat/http_contract.ts";

httpContract("node", serve);
