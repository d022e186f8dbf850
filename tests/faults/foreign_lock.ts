import { hasPython, startCommand } from "./processes.ts";

/** A program that is not ours and holds a lock. */
export interface ForeignHolder {
  /** Kills it. */
  kill(): Promise<void>;
}

const pythonHolder = `
import fcntl, os, sys, time
lock = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(lock, fcntl.LOCK_EX)
print(os.getpid(), flush=True)
time.sleep(600)
`;

/** Takes the lock of a file in Python, or with flock(1) where there is no Python. */
export async function holdLock(path: string): Promise<ForeignHolder> {
  const holder = hasPython
    ? startCommand("python3", ["-c", pythonHolder, path])
    : startCommand("flock", [
      "-x",
      "-o",
      path,
      "sh",
      "-c",
      "echo $PPID; exec sleep 600",
    ]);
  const processId = Number(await holder.line());
  return { kill: () => holder.kill(processId) };
}
