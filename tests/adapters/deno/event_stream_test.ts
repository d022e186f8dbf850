import { serve } from "../../../adapters/deno/serve.ts";
import { eventStreamContract } from "../event_stream_contract.ts";

eventStreamContract("deno", serve);
