import { flag, readCommandLine, whole } from '../../deploy/local/processes/command-line.ts';
import { createPool, WORKERS } from './pool.ts';
import type { Outcome } from './simulate.ts';
import { startPostgres } from './sql/postgres.ts';

const PROGRESS_EVERY_MS = 5000;
const TRACES = 3;

const { values } = readCommandLine({
  typed: 'npm run prove -- simulate',
  about: `Runs the rules of payment in the order of events that a seed gives. Prints the progress every few seconds and each
broken seed. Ends with 1 if a seed broke.`,
  options: {
    seeds: whole('N', 'number of seeds; without it 1000, and 10 with --sql'),
    from: whole('N', 'the first seed', 1),
    seed: whole('N', 'only this seed'),
    sql: flag('executes each statement on Postgres too, and compares results and tables'),
    workers: whole('N', 'number of threads', WORKERS),
    trace: flag('the trace of every seed, not only of the first broken ones'),
  },
});
const { workers } = values;
const first = values.seed ?? values.from;
const count = values.seed === undefined ? (values.seeds ?? (values.sql ? 10 : 1000)) : 1;
const begun = Date.now();
const secondsSince = () => ((Date.now() - begun) / 1000).toFixed(1);
let reportedAt = begun;
let done = 0;
const sums = { payments: 0, refusals: 0, refunds: 0, statements: 0, virtualMs: 0 };
const broken: number[] = [];
const onOutcome = (outcome: Outcome): boolean => {
  done += 1;
  for (const name of ['payments', 'refusals', 'refunds', 'statements', 'virtualMs'] as const)
    sums[name] += outcome[name];
  if (outcome.broken !== null) {
    broken.push(outcome.seed);
    console.log(`seed ${outcome.seed}: ${outcome.broken.message}`);
  }
  if (values.trace || (outcome.broken !== null && broken.length <= TRACES))
    for (const line of outcome.trace) console.log(line);
  if (Date.now() - reportedAt < PROGRESS_EVERY_MS) return true;
  reportedAt = Date.now();
  console.error(`${done} of ${count} seeds in ${secondsSince()} s, ${broken.length} broken`);
  return true;
};
// The threads get its address from the environment.
const postgres = values.sql ? await startPostgres() : null;
const pool = createPool(Math.min(workers, count));
await pool.runSeeds({ first, count }, { traced: values.trace, sql: values.sql, onOutcome });
await pool.close();
await postgres?.stop();
const { payments, refunds, refusals, statements, virtualMs } = sums;
console.log(
  `${count} seeds, ${payments} payments, ${refunds} refunds, ${refusals} refusals, ` +
    `${values.sql ? `${statements} statements as on Postgres, ` : ''}${(virtualMs / 3_600_000).toFixed(1)} virtual hours in ${secondsSince()} s: ${broken.length} broken`,
);
if (broken.length > 0)
  console.log(`replay one with: npm run prove -- simulate --seed ${Math.min(...broken)} --trace`);
process.exitCode = broken.length > 0 ? 1 : 0;
