import { serve } from "../../../adapters/node/serve.ts";
import { eventStreamContract } from "../event_stream_contract.ts";

eventStreamContract("node", serve);
