// Timers that are waiting: with one of them an object cannot hibernate.
const waiting = new Set<unknown>();
const { setTimeout: start, clearTimeout: stop } = globalThis;

globalThis.setTimeout = ((act: () => void, ms?: number) => {
  const timer = start(() => {
    waiting.delete(timer);
    act();
  }, ms);
  waiting.add(timer);
  return timer;
}) as typeof setTimeout;

globalThis.clearTimeout = ((timer: number) => {
  waiting.delete(timer);
  stop(timer);
}) as typeof clearTimeout;

/** How many timers are waiting in this isolate. */
export function liveTimerCount(): number {
  return waiting.size;
}
