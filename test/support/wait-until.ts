import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until a condition holds, and checks it again after a short pause.
 * @throws Error when it does not hold within the time
 */
export const waitUntil = async (
  condition: () => boolean | Promise<boolean>,
  { withinMs = 10_000, everyMs = 25 }: { withinMs?: number; everyMs?: number } = {},
): Promise<void> => {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`the condition did not hold within ${withinMs} ms`);
    await sleep(everyMs);
  }
};
