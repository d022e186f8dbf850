import { loadMcpConfig } from "../../../adapters/node/mcp_config.ts";
import { mcpConfigContract } from "../mcp_config_contract.ts";

mcpConfigContract("bun", loadMcpConfig);
