import { argv } from "node:process";

// Literal paths, so that the examples are part of the bundle for Node.
const examples: Readonly<Record<string, () => Promise<unknown>>> = {
  "01_stateful_chat": () => import("../../examples/01_stateful_chat.ts"),
  "02_custom_tool": () => import("../../examples/02_custom_tool.ts"),
  "05_parallel_lookup": () => import("../../examples/05_parallel_lookup.ts"),
  "06_skill": () => import("../../examples/06_skill.ts"),
  "10_composed_harness": () => import("../../examples/10_composed_harness.ts"),
  "11_streaming_events": () => import("../../examples/11_streaming_events.ts"),
  "12_tool_progress": () => import("../../examples/12_tool_progress.ts"),
};

await examples[argv[2]!]!();
