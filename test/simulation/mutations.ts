import { readCommandLine, wholeNumber } from '../../deploy/local/processes/command-line.ts';
import { RULES, type Rule } from './harness.ts';
import { createPool, type Pool } from './pool.ts';
import type { Outcome } from './simulate.ts';

const usage = `Usage: npm run mutations -- [options]

  --seeds 4000      seeds to try for each rule that is switched off
  --rule '<name>'   only this rule: ${RULES.join(', ')}
  --help            this text`;

/**
 * The mutation check: with a rule switched off the simulation must find a break. Otherwise it
 * proves nothing about that rule.
 */
type Found = { rule: Rule; seed: number | null; tried: number; broken: string | null };

/** Runs seeds until one breaks. */
const mutate = async (pool: Pool, rule: Rule, seeds: number): Promise<Found> => {
  const found: Outcome[] = [];
  const onOutcome = (outcome: Outcome): boolean => {
    if (outcome.broken !== null) found.push(outcome);
    return found.length === 0;
  };
  await pool.runSeeds({ first: 1, count: seeds }, { off: rule, onOutcome });
  const [first] = found.sort((a, b) => a.seed - b.seed);
  if (first === undefined) return { rule, seed: null, tried: seeds, broken: null };
  return { rule, seed: first.seed, tried: first.seed, broken: first.broken!.invariant };
};

if (import.meta.main) {
  const { values } = readCommandLine(usage, {
    options: {
      seeds: { type: 'string', default: '4000' },
      rule: { type: 'string' },
    },
  });
  const chosen = RULES.filter((rule) => values.rule === undefined || rule === values.rule);
  const seeds = wholeNumber('seeds', values.seeds);
  console.log('| Rule switched off | Seeds until found | Invariant that broke |');
  console.log('| --- | --- | --- |');
  let missed = 0;
  const pool = createPool();
  for (const rule of chosen) {
    const { seed, tried, broken } = await mutate(pool, rule, seeds);
    if (seed === null) missed += 1;
    console.log(`| ${rule} | ${seed === null ? `none of ${tried}` : tried} | ${broken ?? 'NOT FOUND'} |`);
  }
  await pool.close();
  process.exitCode = missed > 0 ? 1 : 0;
}
