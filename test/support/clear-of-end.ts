import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for the next UTC day or hour if this one ends in less than the needed time. */
export const clearOfEnd = async (of: 'day' | 'hour', neededMs: number): Promise<void> => {
  const lengthMs = { day: 24 * 3_600_000, hour: 3_600_000 }[of];
  const left = lengthMs - (Date.now() % lengthMs);
  if (left < neededMs) await sleep(left + 1000);
};
