import { AgentCancelledError } from "../base/abort.ts";
import { withRemedy } from "./damage.ts";
import {
  causeText,
  SessionError,
  SessionSerializationError,
  SessionStorageError,
} from "./errors.ts";

/** Which step failed, and where. */
export interface FailedStep {
  readonly step: "read" | "written";
  readonly sessionId: string;
  /** The file, if it is known yet. */
  readonly fileName: string | undefined;
}

/** What a journal in a file throws, whatever the platform threw. */
export function fileFailure(
  error: unknown,
  { step, sessionId, fileName }: FailedStep,
): SessionError | AgentCancelledError {
  if (error instanceof SessionSerializationError) {
    return withRemedy(error.of(sessionId), fileName);
  }
  if (error instanceof SessionError || error instanceof AgentCancelledError) {
    return error;
  }
  return new SessionStorageError(
    `The journal of session "${sessionId}" cannot be ${step}: ` +
      `${causeText(error)}; ${remedyOf(error) ?? "check its directory"}`,
    { cause: error },
  );
}

/** What can be done about a failure of the file system, as far as its code tells. */
export function remedyOf(error: unknown): string | undefined {
  const { code } = Object(error) as { readonly code?: unknown };
  return Object.entries(remedies).find(([, codes]) =>
    codes.includes(code as string)
  )?.[0];
}

const remedies: Readonly<Record<string, readonly string[]>> = {
  "check the path of its directory": [
    "EEXIST",
    "EISDIR",
    "ELOOP",
    "ENAMETOOLONG",
    "ENOENT",
    "ENOTDIR",
  ],
  "check the permissions of its directory": ["EACCES", "EPERM", "EROFS"],
  "make room on its disk": ["EDQUOT", "ENOSPC"],
  "close other files or raise the limit of open ones": ["EMFILE", "ENFILE"],
  "check the health of its disk": ["EIO"],
};
