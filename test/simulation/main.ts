import { readCommandLine, wholeNumber } from '../../deploy/local/processes/command-line.ts';
import { createPool, WORKERS } from './pool.ts';
import type { Outcome } from './simulate.ts';
import { startPostgres } from './sql/postgres.ts';

const usage = `Usage: npm run simulate -- [options]

  --seeds 1000   number of seeds; with --sql 10
  --from 1       the first seed
  --seed n       only this seed
  --cells 4      several cells, with claims and lanes between them (docs/design/settle.md)
  --sql          executes each statement on Postgres too, and compares results and tables
  --workers n    number of threads (default: one per core)
  --trace        the trace of every seed, not only of the first broken ones
  --help         this text

Prints the progress every few seconds and each broken seed. The exit code is 1 if a seed broke.`;

const PROGRESS_EVERY_MS = 5000;
const TRACES = 3;

const { values } = readCommandLine(usage, {
  options: {
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    sql: { type: 'boolean', default: false },
    cells: { type: 'string', default: '1' },
    workers: { type: 'string', default: String(WORKERS) },
    trace: { type: 'boolean', default: false },
  },
});
const first = wholeNumber('seed', values.seed ?? values.from);
const count =
  values.seed === undefined ? wholeNumber('seeds', values.seeds ?? (values.sql ? '10' : '1000')) : 1;
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
const cells = wholeNumber('cells', values.cells);
const workers = wholeNumber('workers', values.workers);
// The threads get its address from the environment.
const postgres = values.sql ? await startPostgres() : null;
const pool = createPool(Math.min(workers, count));
await pool.runSeeds({ first, count }, { traced: values.trace, cells, sql: values.sql, onOutcome });
await pool.close();
await postgres?.stop();
const { payments, refunds, refusals, statements, virtualMs } = sums;
console.log(
  `${count} seeds, ${payments} payments, ${refunds} refunds, ${refusals} refusals, ` +
    `${values.sql ? `${statements} statements as on Postgres, ` : ''}${(virtualMs / 3_600_000).toFixed(1)} virtual hours in ${secondsSince()} s: ${broken.length} broken`,
);
if (broken.length > 0)
  console.log(`replay one with: npm run simulate -- --seed ${Math.min(...broken)} --trace`);
process.exitCode = broken.length > 0 ? 1 : 0;
