import {
  requireBoolean,
  requireMember,
  requireObject,
  requireType,
} from "../base/require.ts";
import type { ToolEffect } from "../messages/tool.ts";

/**
 * Checks the options of a handler or a manager that nothing else looks at before they
 * are needed.
 *
 * @throws {TypeError} One has the wrong type.
 */
export function requireMcpOptions(options: object): void {
  requireObject("The options", options);
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && Object.hasOwn(checks, name)) {
      checks[name]!(name, value);
    }
  }
}

type Check = (name: string, value: unknown) => unknown;

const checks: Readonly<Record<string, Check>> = {
  stdio: requireFunction,
  onDiagnostic: requireFunction,
  onToolsChanged: requireFunction,
  onElicit: requireFunction,
  onSample: requireFunction,
  convertResult: requireFunction,
  selectTools: requireFunction,
  trustAnnotations: requireBoolean,
  includeBinary: requireBoolean,
  resetTimeoutOnProgress: requireBoolean,
  env: requireObject,
  http: requireObject,
  toolEffects: requireEffects,
};

const effects: Readonly<Record<ToolEffect, true>> = {
  read_only: true,
  side_effecting: true,
};

function requireEffects(name: string, value: unknown): void {
  for (
    const [tool, effect] of Object.entries(Object(requireObject(name, value)))
  ) {
    requireMember(`${name}["${tool}"]`, effect, effects);
  }
}

function requireFunction(name: string, value: unknown): void {
  requireType(typeof value === "function", name, "a function");
}
