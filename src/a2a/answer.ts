import { A2AError } from "./errors.ts";
import {
  type A2AArtifact,
  type A2AFrame,
  type A2AMessage,
  type A2ATask,
  type A2ATaskState,
  type A2ATaskStatus,
  PHASE_OF_STATE,
  textOfParts,
} from "./wire.ts";

/** A piece of an answer that is new. */
export interface AnswerPiece {
  /** The answer itself, or what the agent says on the way to it. */
  readonly kind: "assistant_text_delta" | "assistant_thinking_delta";
  /** Not empty. */
  readonly delta: string;
}

/**
 * Puts the frames of one answer together.
 *
 * Frames may repeat what was said before: a whole task its artifacts, a task its
 * last status. What is shown is shown once.
 */
export class Answer {
  readonly #texts = new Map<string, string>();
  readonly #said = new Set<string>();
  readonly #expected: string | null;
  #contextId: string | null;
  #taskId: string | null = null;
  #state: A2ATaskState | null = null;
  #answered = false;
  #complaint: string | null = null;

  /** Nothing was said yet. @param contextId The conversation; null for a new one. */
  constructor(contextId: string | null) {
    this.#expected = contextId;
    this.#contextId = contextId;
  }

  /** The conversation. */
  get contextId(): string | null {
    return this.#contextId;
  }

  /** The task; null if the answer needs none. */
  get taskId(): string | null {
    return this.#taskId;
  }

  /** How far the task is. */
  get state(): A2ATaskState | null {
    return this.#state;
  }

  /** True if nothing more is to come: the task is over or waits for its client. */
  get ended(): boolean {
    return this.#answered ||
      (this.#state !== null && PHASE_OF_STATE[this.#state] !== "open");
  }

  /** The whole text. */
  get output(): string {
    return [...this.#texts.values()].filter((text) => text !== "").join("\n");
  }

  /** What the agent says about a task that failed or was cancelled. */
  get complaint(): string | null {
    return this.#complaint;
  }

  /** Takes a frame in. @returns What it says that is new. @throws {A2AError} It belongs elsewhere. */
  take(frame: A2AFrame): AnswerPiece[] {
    const { task, message, statusUpdate, artifactUpdate } = frame;
    if (task !== undefined) return this.#takeTask(task);
    if (message !== undefined) return this.#takeMessage(message);
    if (statusUpdate !== undefined) {
      this.#enter(statusUpdate.contextId, statusUpdate.taskId);
      return this.#takeStatus(statusUpdate.status);
    }
    if (artifactUpdate === undefined) return [];
    this.#enter(artifactUpdate.contextId, artifactUpdate.taskId);
    const { artifact, append = false } = artifactUpdate;
    return append
      ? this.#add(artifact.artifactId, textOf(artifact))
      : this.#show(artifact.artifactId, textOf(artifact));
  }

  #takeTask({ id, contextId, artifacts = [], status }: A2ATask): AnswerPiece[] {
    this.#enter(contextId, id);
    const made = artifacts.flatMap((artifact) =>
      this.#show(artifact.artifactId, textOf(artifact))
    );
    return [...made, ...this.#takeStatus(status)];
  }

  #takeMessage(message: A2AMessage): AnswerPiece[] {
    // Its task, if it names one, was never shown and cannot be asked for.
    this.#enter(message.contextId, undefined);
    this.#answered = true;
    return this.#show(message.messageId, textOf(message));
  }

  #takeStatus({ state, message }: A2ATaskStatus): AnswerPiece[] {
    this.#state = state;
    if (message === undefined || this.#said.has(message.messageId)) return [];
    this.#said.add(message.messageId);
    const delta = textOf(message);
    if (delta === "") return [];
    if (state === "TASK_STATE_FAILED" || state === "TASK_STATE_CANCELED") {
      this.#complaint = delta;
      return [];
    }
    if (PHASE_OF_STATE[state] !== "open") {
      return this.#show(message.messageId, delta);
    }
    return [{ kind: "assistant_thinking_delta", delta }];
  }

  /** Sets one text of the output. @returns What follows the text that was shown before. */
  #show(id: string, text: string): AnswerPiece[] {
    const known = this.#texts.get(id) ?? "";
    if (text.startsWith(known)) return this.#add(id, text.slice(known.length));
    // What was shown cannot be taken back; the final message tells the truth.
    this.#texts.set(id, text);
    return text === "" ? [] : [{ kind: "assistant_text_delta", delta: text }];
  }

  #add(id: string, text: string): AnswerPiece[] {
    if (text === "") return [];
    const known = this.#texts.get(id) ?? "";
    const separator = known === "" && this.#texts.size > 0 ? "\n" : "";
    this.#texts.set(id, known + text);
    return [{ kind: "assistant_text_delta", delta: separator + text }];
  }

  #enter(contextId: string | undefined, taskId: string | undefined): void {
    if (contextId) {
      if (this.#contextId !== null && contextId !== this.#contextId) {
        throw new A2AError(
          this.#expected === null
            ? "The agent changed the conversation within one answer"
            : "The agent answered in another conversation; " +
              "start a new one with reset()",
        );
      }
      this.#contextId = contextId;
    }
    if (taskId) this.#taskId = taskId;
  }
}

function textOf({ parts }: A2AArtifact | A2AMessage): string {
  return textOfParts(parts ?? []);
}
