import { expect, test } from '@jest/globals';
import { runTarget } from './target.ts';
import { allTargets } from './targets.ts';

/**
 * The short form of `npm run prove -- fuzz`: the same inputs at each run. No time is asserted,
 * because other programs run at the same time.
 */
const SEED = 20_261_127;
const RUNS = 300;

test.each((await allTargets()).map((target) => [target.name, target] as const))(
  '%s',
  async (_name, target) => {
    const { failure, runs } = await runTarget(target, { runs: RUNS, seed: SEED });
    expect(failure).toBeNull();
    expect(runs).toBe(RUNS * (target.times ?? 1));
    if (target.times !== undefined) console.info(`${target.name}: ${runs} inputs`);
  },
);
