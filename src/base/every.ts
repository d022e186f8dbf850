import type { Clock } from "./ports.ts";

/** Acts again and again, the first time after `ms` milliseconds. @returns A function that stops it. */
export function every(clock: Clock, ms: number, act: () => void): () => void {
  let cancel = () => {};
  const wait = () => {
    cancel = clock.setTimer(ms, () => {
      act();
      wait();
    });
  };
  wait();
  return () => cancel();
}
