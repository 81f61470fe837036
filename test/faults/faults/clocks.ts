import type { Fault } from '../fault.ts';
import type { Harness } from '../harness.ts';
import { serviceNames } from './kill.ts';

const LEAST_MS = 60_000;
const MOST_MS = 600_000;

/**
 * The clock of one process is wrong by minutes, ahead or behind: it jumps, or the process starts
 * with it.
 */
export const clocks = (harness: Harness): Fault[] =>
  serviceNames(harness).map((name) => ({
    name: `clock-${name}`,
    holdMs: [2000, 5000],
    inject: async (rng) => {
      const wrongMs = rng.int(LEAST_MS, MOST_MS) * (rng.chance(0.5) ? 1 : -1);
      const jumps = rng.chance(0.5);
      harness.setClock(name, wrongMs);
      if (!jumps) await harness.kill(name);
      return async () => {
        harness.setClock(name, null);
        if (!jumps) await harness.kill(name);
      };
    },
  }));
