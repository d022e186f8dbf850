import { frozen } from "../base/freeze.ts";
import {
  requireBoolean,
  requireInteger,
  requireObject,
} from "../base/require.ts";
import type { CompactionPolicy } from "./budget.ts";
import type { Compactor } from "./compaction.ts";

/** When an agent compacts by itself. */
export interface AutoCompactionPolicy {
  /** False switches all of it off. */
  readonly enabled: boolean;
  /** Compacts before a request that is under pressure. */
  readonly compactOnPressure: boolean;
  /** Compacts and asks again when the provider says that a request is too large. */
  readonly recoverOnOverflow: boolean;
  /** How often one turn may recover: 0 or 1. */
  readonly maxOverflowRetries: number;
}

/** What {@linkcode autoCompactionPolicy} takes. */
export type AutoCompactionInput = Partial<AutoCompactionPolicy>;

/**
 * Makes the policy of automatic compaction; everything is on unless it says otherwise.
 *
 * @throws {TypeError} No object, or a switch is neither true nor false.
 * @throws {RangeError} `maxOverflowRetries` is neither 0 nor 1.
 */
export function autoCompactionPolicy(
  input: AutoCompactionInput = {},
): AutoCompactionPolicy {
  requireObject("autoCompactionPolicy", input);
  const { maxOverflowRetries = 1 } = input;
  if (requireInteger("maxOverflowRetries", maxOverflowRetries, 0) > 1) {
    throw new RangeError("maxOverflowRetries must be 0 or 1");
  }
  return frozen({
    enabled: switchIn(input, "enabled"),
    compactOnPressure: switchIn(input, "compactOnPressure"),
    recoverOnOverflow: switchIn(input, "recoverOnOverflow"),
    maxOverflowRetries,
  });
}

function switchIn(
  input: AutoCompactionInput,
  name: "enabled" | "compactOnPressure" | "recoverOnOverflow",
): boolean {
  return requireBoolean(name, input[name] ?? true);
}

/** What an agent needs in order to compact by itself. */
export interface AutoCompactionParts {
  /** Says when and where to cut. */
  readonly policy: CompactionPolicy | null | undefined;
  /** Writes the summaries. */
  readonly compactor: Compactor | null | undefined;
}

/**
 * Checks that an enabled automatic policy can work.
 *
 * @throws {RangeError} There is no compaction policy, or no compactor.
 */
export function requireAutoCompactionParts(
  automatic: AutoCompactionPolicy,
  parts: AutoCompactionParts,
): void {
  if (!automatic.enabled || parts.policy && parts.compactor) return;
  const missing = parts.policy
    ? "Compactor: set compactor"
    : "CompactionPolicy: set compactionPolicy";
  throw new RangeError(`Automatic compaction needs a ${missing}`);
}
