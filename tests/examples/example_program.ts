import { argv } from "node:process";

// Literal paths, so that the examples are part of the bundle for Node.
const examples: Readonly<Record<string, () => Promise<unknown>>> = {
  "01_stateful_chat": () => import("../../examples/01_stateful_chat.ts"),
  "02_custom_tool": () => import("../../examples/02_custom_tool.ts"),
  "03_behavior_hook": () => import("../../examples/03_behavior_hook.ts"),
  "04_mcp_tools": () => import("../../examples/04_mcp_tools.ts"),
  "05_parallel_lookup": () => import("../../examples/05_parallel_lookup.ts"),
  "06_skill": () => import("../../examples/06_skill.ts"),
  "07_event_observers": () => import("../../examples/07_event_observers.ts"),
  "08_session_resume": () => import("../../examples/08_session_resume.ts"),
  "09_runtime_control": () => import("../../examples/09_runtime_control.ts"),
  "10_composed_harness": () => import("../../examples/10_composed_harness.ts"),
  "11_streaming_events": () => import("../../examples/11_streaming_events.ts"),
  "12_tool_progress": () => import("../../examples/12_tool_progress.ts"),
  "13_usage_budget": () => import("../../examples/13_usage_budget.ts"),
  "14_context_pressure": () => import("../../examples/14_context_pressure.ts"),
  "15_explicit_compaction": () =>
    import("../../examples/15_explicit_compaction.ts"),
  "17_session_tree": () => import("../../examples/17_session_tree.ts"),
  "21_audit_middleware": () => import("../../examples/21_audit_middleware.ts"),
  "22_retrieval_provider": () =>
    import("../../examples/22_retrieval_provider.ts"),
  "23_traced_run": () => import("../../examples/23_traced_run.ts"),
  "24_served_agent": () => import("../../examples/24_served_agent.ts"),
  "25_sub_agent": () => import("../../examples/25_sub_agent.ts"),
};

await examples[argv[2]!]!();
