/** The floors of `src`, lowest first: a folder imports only folders above it in this list. */
export const floors = [
  "base",
  "messages",
  "model",
  "tools",
  "context",
  "events",
  "session",
  "pipeline",
  "agent",
] as const;

/** A folder of `src` outside the floors: an entry of its own that builds on them. */
export interface Edge {
  /** The npm packages it may import. */
  readonly packages: readonly string[];
  /** Other edges it builds on. */
  readonly edges: readonly string[];
}

/** The edges of `src`. Each is the only place that names its package. */
export const edges: Readonly<Record<string, Edge>> = {
  skills: { packages: ["yaml"], edges: [] },
  chat: { packages: [], edges: [] },
  openai: { packages: ["openai"], edges: ["chat"] },
  middleware: { packages: [], edges: [] },
  validation: { packages: ["@cfworker/json-schema"], edges: [] },
  mcp: { packages: ["@modelcontextprotocol/sdk"], edges: ["validation"] },
  telemetry: { packages: ["@opentelemetry/api"], edges: [] },
  http: { packages: [], edges: [] },
  a2a: { packages: [], edges: ["http"] },
  testing: { packages: [], edges: [] },
};

/** A folder of `adapters`: the core and exactly one platform. */
export interface Platform {
  /** Prefixes of the platform's own modules. */
  readonly modules: readonly string[];
  /** The globals that exist only there. */
  readonly globals: readonly string[];
  /** The npm packages it may import. */
  readonly packages: readonly string[];
  /** Other adapters it may use. */
  readonly adapters: readonly string[];
}

/** The platforms. */
export const platforms: Readonly<Record<string, Platform>> = {
  // The server of node:http, which Deno has as well, is the better one there.
  deno: { modules: [], globals: ["Deno"], packages: [], adapters: ["node"] },
  node: {
    modules: ["node:"],
    globals: ["process", "Buffer"],
    packages: ["@modelcontextprotocol/sdk"],
    adapters: [],
  },
  bun: {
    modules: ["node:", "bun:"],
    globals: ["Bun", "process", "Buffer"],
    packages: [],
    adapters: ["node"],
  },
  cloudflare: { modules: [], globals: [], packages: [], adapters: [] },
  deno_kv: { modules: [], globals: [], packages: [], adapters: [] },
  postgres: { modules: [], globals: [], packages: [], adapters: [] },
};

/** An entry of the package. */
export interface EntryRule {
  /** The file behind the key. */
  readonly file: string;
  /** The npm packages that importing it may load. */
  readonly packages: readonly string[];
  /** Whether it must run on every runtime. */
  readonly portable: boolean;
}

/** Every entry that the package may have. */
export const entryRules: Readonly<Record<string, EntryRule>> = {
  ".": { file: "mod.ts", packages: [], portable: true },
  "./model": { file: "src/model/mod.ts", packages: [], portable: true },
  "./session": { file: "src/session/mod.ts", packages: [], portable: true },
  "./middleware": {
    file: "src/middleware/mod.ts",
    packages: [],
    portable: true,
  },
  "./testing": { file: "src/testing/mod.ts", packages: [], portable: true },
  "./a2a": { file: "src/a2a/mod.ts", packages: [], portable: true },
  "./http": { file: "src/http/mod.ts", packages: [], portable: true },
  "./chat": { file: "src/chat/mod.ts", packages: [], portable: true },
  "./openai": {
    file: "src/openai/mod.ts",
    packages: ["openai"],
    portable: true,
  },
  "./validation": {
    file: "src/validation/mod.ts",
    packages: ["@cfworker/json-schema"],
    portable: true,
  },
  "./skills": { file: "src/skills/mod.ts", packages: ["yaml"], portable: true },
  "./mcp": {
    file: "src/mcp/mod.ts",
    packages: ["@modelcontextprotocol/sdk", "@cfworker/json-schema"],
    portable: true,
  },
  "./mcp-stdio": {
    file: "adapters/node/mcp_stdio.ts",
    packages: ["@modelcontextprotocol/sdk"],
    portable: false,
  },
  "./telemetry": {
    file: "src/telemetry/mod.ts",
    packages: ["@opentelemetry/api"],
    portable: true,
  },
  "./deno": { file: "adapters/deno/mod.ts", packages: [], portable: false },
  "./node": { file: "adapters/node/mod.ts", packages: [], portable: false },
  "./bun": { file: "adapters/bun/mod.ts", packages: [], portable: false },
  "./cloudflare": {
    file: "adapters/cloudflare/mod.ts",
    packages: [],
    portable: true,
  },
  "./deno-kv": {
    file: "adapters/deno_kv/mod.ts",
    packages: [],
    portable: true,
  },
  "./postgres": {
    file: "adapters/postgres/mod.ts",
    packages: [],
    portable: true,
  },
};
