import { setTimeout as sleep } from 'node:timers/promises';
import { scrape } from '../../test/support/scrape.ts';
import { createBenchVendor, createPayers, settleCalls } from '../harness/actors.ts';
import { type Load, startLoad } from '../harness/load.ts';
import { cpuMsOf, writtenBytesOf } from '../harness/process-figures.ts';
import { templatePayment } from '../harness/rows.ts';
import type { Benchmark, Run } from '../harness/run.ts';
import { type BenchStack, noteDurability, startBenchStack } from '../harness/stack.ts';
import { summary } from '../harness/statistics.ts';
import type { Call } from '../load/job.ts';
import { commonPath } from './common-path.ts';

const CONCURRENCY = 16;
const PAYERS = 8;
const IDLE_MS = 10_000;

/** The cost of a settle. */
export const cost: Benchmark = {
  about: 'CPU, bytes, statements, messages and RPC calls per settle',
  run: async (run) => {
    const bench = await startBenchStack(run, 'stack', { chainSlotMs: 0 });
    await noteDurability(bench, run);
    const load = await startLoad();
    run.defer(load.stop);
    const vendor = await createBenchVendor(bench);
    const payers = await createPayers(bench, PAYERS);
    await templatePayment(bench, vendor, payers[0]!);
    await commonPath(run, bench, vendor, payers);
    const prepare = (count: number) => settleCalls(bench, load, { vendor, payers, count });
    await perSettle(run, bench, load, prepare);
  },
};

type Counters = Record<string, number>;

/** Everything that is counted cumulatively. */
const readCounters = async (bench: BenchStack): Promise<Counters> => {
  const pids = bench.pids();
  const { rows } = await bench.db.query<Record<string, string>>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as wal,
       (select xact_commit from pg_stat_database where datname = current_database()) as transactions,
       (select sum(fsyncs) from pg_stat_io where object = 'wal') as flushes,
       (select sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0)) from pg_stat_io where object <> 'wal') as tables`,
  );
  const { wal, transactions, flushes, tables } = rows[0]!;
  const submitter = await scrape(bench.stack.metrics['chain-submitter']!);
  return {
    ...Object.fromEntries(Object.entries(pids).map(([name, pid]) => [`CPU ms, ${name}`, cpuMsOf(pid)])),
    'Postgres: WAL bytes': Number(wal),
    'Postgres: bytes written to tables': Number(tables),
    'Postgres: transactions': Number(transactions),
    'Postgres: flushes of the WAL': Number(flushes),
    'NATS: bytes to disk': writtenBytesOf(pids['nats-server']!),
    'RPC calls': submitter.value('quittance_rpc_call_duration_seconds_count') ?? 0,
  };
};

const differences = (before: Counters, after: Counters): Counters =>
  Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]));

/**
 * The total cost of a settle until its transaction is final. The cost of an idle system is measured
 * first and subtracted.
 */
const perSettle = async (
  run: Run,
  bench: BenchStack,
  load: Load,
  prepare: (count: number) => Promise<Call[]>,
): Promise<void> => {
  const { rounds, seconds } = run.options;
  const rows: Record<string, number[]> = {};
  let perSecond = 50;
  for (let round = 0; round < rounds; round += 1) {
    run.report.progress(`cost: round ${round + 1} of ${rounds}`);
    const calls = await prepare(Math.ceil(perSecond * seconds));
    await settled(bench);
    const [restBegan, resting] = [performance.now(), await readCounters(bench)];
    await sleep(Math.min(IDLE_MS, seconds * 1000));
    const [began, before] = [performance.now(), await readCounters(bench)];
    const { elapsedMs } = await bench.profiled(() =>
      load.run({
        kind: 'calls',
        origin: bench.stack.gateway_url,
        calls,
        concurrency: CONCURRENCY,
      }),
    );
    perSecond = (calls.length * 1000) / elapsedMs;
    await settled(bench);
    const rest = differences(resting, before);
    const share = (performance.now() - began) / (began - restBegan);
    const spent = differences(before, await readCounters(bench));
    let allCpu = 0;
    for (const [name, value] of Object.entries(spent)) {
      const each = (value - rest[name]! * share) / calls.length;
      rows[name] = [...(rows[name] ?? []), each];
      if (name.startsWith('CPU')) allCpu += each;
    }
    rows['CPU ms, all processes'] = [...(rows['CPU ms, all processes'] ?? []), allCpu];
    rows['settles per second meanwhile'] = [...(rows['settles per second meanwhile'] ?? []), perSecond];
  }
  run.report.table(
    `per settle, concurrency ${CONCURRENCY}, idle cost subtracted`,
    ['', 'min', 'median', 'max'],
    Object.entries(rows).map(([name, values]) => {
      const { min, median, max } = summary(values);
      return [name, min, median, max];
    }),
  );
  run.report.data('per settle', rows);
};

/** Waits until every paid intent is final. */
export const settled = async ({ db }: BenchStack): Promise<void> => {
  for (let tries = 0; tries < 300; tries += 1) {
    const { rowCount } = await db.query(
      `select from chain_submitter.intents where status not in ('finalized', 'failed') limit 1`,
    );
    if (rowCount === 0) return;
    await sleep(200);
  }
  throw new Error('some intents did not become final within a minute');
};
