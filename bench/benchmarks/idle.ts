import { setTimeout as sleep } from 'node:timers/promises';
import { startPayingStack } from '../harness/paying-stack.ts';
import { cpuMsOf } from '../harness/process-figures.ts';
import { type Benchmark, part, type Run } from '../harness/run.ts';
import { type BenchStack, startBenchStack } from '../harness/stack.ts';
import { summary } from '../harness/statistics.ts';

/** The garbage of the start-up is collected, and the processes are quiet. */
const REST_MS = 60_000;
const ROUND_MS = 60_000;
const PAYERS = 8;

/** What a stack costs that nobody uses. */
export const idle: Benchmark = {
  about: 'CPU of each process of a stack that nobody uses, with one and two environments',
  run: async (run) => {
    await part(run, async (own) => {
      const bench = await startBenchStack(own, 'idle-1');
      await measure(own, bench, { named: 'one environment', atMost: 50 });
    });
    await part(run, async (own) => {
      const bench = await startBenchStack(own, 'idle-2', { environments: ['test', 'live'] });
      await measure(own, bench, { named: 'two environments', atMost: 100 });
    });
    // The wallets of its payers are watched.
    await part(run, async (own) => {
      const { bench } = await startPayingStack(own, 'idle-paid', { payerCount: PAYERS });
      await measure(own, bench, { named: `one environment, after a payment and ${PAYERS} sign-ups` });
    });
  },
};

type Counters = { at: number; cpu: Record<string, number>; transactions: number };

const readCounters = async ({ db, pids }: BenchStack): Promise<Counters> => {
  // All databases, because each environment has one.
  const { rows } = await db.query<{ transactions: string }>(
    'select sum(xact_commit + xact_rollback) as transactions from pg_stat_database',
  );
  const cpu = Object.fromEntries(Object.entries(pids()).map(([name, pid]) => [name, cpuMsOf(pid)]));
  return { at: performance.now(), cpu, transactions: Number(rows[0]!.transactions) };
};

const measure = async (
  run: Run,
  bench: BenchStack,
  { named, atMost }: { named: string; atMost?: number },
): Promise<void> => {
  run.report.progress(`${named}: rests`);
  await sleep(REST_MS);
  const millicores: Record<string, number[]> = {};
  const sums: number[] = [];
  const transactions: number[] = [];
  for (let round = 0; round < run.options.rounds; round += 1) {
    run.report.progress(`${named}: minute ${round + 1} of ${run.options.rounds}`);
    const before = await readCounters(bench);
    await bench.profiled(() => sleep(ROUND_MS));
    const after = await readCounters(bench);
    const elapsedMs = after.at - before.at;
    const each = Object.entries(after.cpu).map(([name, ms]): [string, number] => [
      name,
      ((ms - (before.cpu[name] ?? 0)) * 1000) / elapsedMs,
    ]);
    for (const [name, share] of each) millicores[name] = [...(millicores[name] ?? []), share];
    sums.push(each.reduce((sum, [, share]) => sum + share, 0));
    transactions.push(((after.transactions - before.transactions) * 1000) / elapsedMs);
  }
  const row = (name: string, values: number[]) => {
    const { min, median, max } = summary(values);
    return [name, min, median, max];
  };
  run.report.table(
    `idle, ${named}: millicores, which are milliseconds of CPU a second`,
    ['', 'min', 'median', 'max'],
    [
      row('all', sums),
      ...Object.entries(millicores)
        .toSorted(([, a], [, b]) => summary(b).median - summary(a).median)
        .map(([name, values]) => row(name, values)),
    ],
  );
  run.report.table(
    `idle, ${named}: Postgres`,
    ['', 'min', 'median', 'max'],
    [row('transactions a second', transactions)],
  );
  run.report.data(`idle, ${named}`, { all: sums, ...millicores, transactions });
  if (atMost !== undefined)
    run.report.target({ what: `millicores of an idle stack, ${named}`, value: summary(sums).median, atMost });
};
