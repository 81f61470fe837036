import { setTimeout as sleep } from 'node:timers/promises';
import type { Harness } from './harness.ts';

/** A process that ended, whatever killed it. */
export type Death = { name: string; at: number };

const EVERY_MS = 50;

/** Records every process of the stack that ends. */
export const recordDeaths = ({ pids, names }: Harness) => {
  const deaths: Death[] = [];
  let running = true;
  let known = pids();
  const loop = async () => {
    while (running) {
      const current = pids();
      for (const name of names)
        if (known[name] !== undefined && current[name] !== known[name]) deaths.push({ name, at: Date.now() });
      known = current;
      await sleep(EVERY_MS);
    }
  };
  const watching = loop();
  return {
    deaths,
    stop: async (): Promise<void> => {
      running = false;
      await watching;
    },
  };
};
