import { loadMcpConfig } from "../../../adapters/deno/mcp_config.ts";
import { mcpConfigContract } from "../mcp_config_contract.ts";

mcpConfigContract("deno", loadMcpConfig);
