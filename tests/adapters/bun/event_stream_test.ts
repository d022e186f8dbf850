import { serve } from "../../../adapters/bun/serve.ts";
import { eventStreamContract } from "../event_stream_contract.ts";

eventStreamContract("bun", serve);
