import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import { delimiter, join } from "node:path";
import { env, platform } from "node:process";
import type { FileLock, FileLocks } from "../../src/session/file_lock.ts";

/**
 * A program that locks files for us. It reads lines `lock SLOT PATH` and
 * `unlock SLOT`, answers each with a word, and ends with its input, which the
 * death of this process closes. Whatever it held is free then.
 */
export interface Helper {
  /** The program. */
  readonly command: string;
  /** Its arguments. */
  readonly args: readonly string[];
  /** Programs that must be on the path. */
  readonly needs: readonly string[];
}

const perlScript = `
use Fcntl qw(:flock O_RDWR O_CREAT);
$| = 1;
my %files;
while (my $line = <STDIN>) {
  chomp $line;
  my ($verb, $slot, $path) = split / /, $line, 3;
  delete $files{$slot};
  if ($verb eq "unlock") { print "free\\n"; next }
  if (!sysopen(my $file, $path, O_RDWR | O_CREAT, 0600)) { print "failed\\n" }
  elsif (flock($file, LOCK_EX | LOCK_NB)) { $files{$slot} = $file; print "held\\n" }
  else { print $!{EWOULDBLOCK} ? "busy\\n" : "failed\\n" }
}`;

// A shell has no locks of its own, but flock(1) locks a file that the shell has open.
const shellScript = `
umask 077
while IFS=' ' read -r verb slot path; do
  eval "exec $slot>&-"
  if [ "$verb" = unlock ]; then echo free; continue; fi
  if ! eval "command exec $slot<>\\"\\$path\\"" 2>/dev/null; then echo failed; continue; fi
  flock -x -n "$slot"
  case $? in
    0) echo held;;
    1) eval "exec $slot>&-"; echo busy;;
    *) eval "exec $slot>&-"; echo failed;;
  esac
done`;

/** Perl locks by itself, in a fraction of a millisecond. */
export const perlHelper: Helper = {
  command: "perl",
  args: ["-e", perlScript],
  needs: ["perl"],
};

/** The shell starts a program for each lock, which takes milliseconds. */
export const shellHelper: Helper = {
  command: "sh",
  args: ["-c", shellScript],
  needs: ["sh", "flock"],
};

/** The names of open files that every shell can count up to. */
const slots: readonly number[] = [3, 4, 5, 6, 7, 8, 9];

/**
 * The kernel's locks through one helper process, which is started by the first
 * append and keeps nothing alive.
 *
 * @returns Null where no program is found that could help.
 */
export function flockHelper(
  candidates: readonly Helper[] = [perlHelper, shellHelper],
): FileLocks | null {
  if (platform === "win32") return null;
  const helper = candidates.find(({ needs }) => needs.every(isOnPath));
  return helper === undefined ? null : new HelperLocks(helper);
}

function isOnPath(program: string): boolean {
  return (env.PATH ?? "").split(delimiter).some((directory) => {
    try {
      fs.accessSync(join(directory, program), fs.constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

class HelperLocks implements FileLocks {
  readonly kind = "flock";
  readonly #helper: Helper;
  #talk: Conversation | null = null;

  constructor(helper: Helper) {
    this.#helper = helper;
  }

  open(path: string): FileLock {
    if (path.includes("\n")) {
      throw new TypeError("The path of a lock file must be one line");
    }
    let held: { talk: Conversation; slot: number } | null = null;
    const unlock = async () => {
      if (held === null) return;
      const { talk, slot } = held;
      held = null;
      await talk.unlock(slot);
    };
    return {
      tryLock: async () => {
        const talk = this.#conversation();
        const slot = await talk.lock(path);
        if (slot !== null) held = { talk, slot };
        return slot !== null;
      },
      held: () => held !== null && !held.talk.ended,
      unlock,
      close: unlock,
    };
  }

  async close(): Promise<void> {
    await this.#talk?.end();
    this.#talk = null;
  }

  #conversation(): Conversation {
    if (this.#talk === null || this.#talk.ended) {
      this.#talk = new Conversation(this.#helper);
    }
    return this.#talk;
  }
}

/** The life of one helper process. */
class Conversation {
  readonly #child: ChildProcess;
  readonly #freeSlots = [...slots];
  readonly #answers: ((answer: string) => void)[] = [];
  #received = "";
  #ended = false;

  constructor({ command, args }: Helper) {
    // Detached: a Ctrl-C in the terminal is for us, not for the helper.
    this.#child = spawn(command, args, {
      stdio: ["pipe", "pipe", "ignore"],
      detached: true,
    });
    this.#child.stdout!.setEncoding("utf8");
    this.#child.stdout!.on("data", (text: string) => this.#receive(text));
    this.#child.stdin!.on("error", () => this.#end());
    this.#child.on("error", () => this.#end());
    this.#child.on("exit", () => this.#end());
    this.#keepAlive(false);
  }

  /** True once the helper is gone, and all its locks with it. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Tries to lock a file. @returns Where the helper keeps it open; null if it is locked already. */
  async lock(path: string): Promise<number | null> {
    // More files at once than the helper can name wait as if they were locked.
    const slot = this.#freeSlots.pop();
    if (slot === undefined) return null;
    const answer = await this.#ask(`lock ${slot} ${path}`);
    if (answer === "held") return slot;
    this.#freeSlots.push(slot);
    if (answer === "busy") return null;
    throw new Error(`The helper process could not lock ${path}`);
  }

  async unlock(slot: number): Promise<void> {
    await this.#ask(`unlock ${slot}`);
    this.#freeSlots.push(slot);
  }

  /** Ends the helper. */
  end(): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise((resolve) => {
      this.#keepAlive(true);
      this.#child.on("close", () => resolve());
      this.#child.stdin!.end();
    });
  }

  #ask(line: string): Promise<string> {
    if (this.#ended) return Promise.resolve("gone");
    return new Promise((resolve) => {
      if (this.#answers.push(resolve) === 1) this.#keepAlive(true);
      this.#child.stdin!.write(`${line}\n`);
    });
  }

  #receive(text: string): void {
    const lines = (this.#received + text).split("\n");
    this.#received = lines.pop()!;
    for (const line of lines) this.#answers.shift()?.(line);
    if (this.#answers.length === 0) this.#keepAlive(false);
  }

  #end(): void {
    this.#ended = true;
    for (const answer of this.#answers.splice(0)) answer("gone");
  }

  /** Whether this process waits for the helper before it exits: only while a question is open. */
  #keepAlive(wanted: boolean): void {
    const change = wanted ? "ref" : "unref";
    const { stdin, stdout } = this.#child;
    for (const part of [this.#child, stdin, stdout]) {
      (part as { ref?(): void; unref?(): void } | null)?.[change]?.();
    }
  }
}
