import { setTimeout as sleep } from 'node:timers/promises';
import { scrape } from '../../test/support/scrape.ts';
import { settleCalls } from '../harness/actors.ts';
import { type PayingStack, startPayingStack } from '../harness/paying-stack.ts';
import { cpuMsOf, writtenBytesOf } from '../harness/process-figures.ts';
import { type Benchmark, type PaceOfRun, pacesOf, part, type Run } from '../harness/run.ts';
import { type BenchStack, noteDurability } from '../harness/stack.ts';
import { summary } from '../harness/statistics.ts';
import { commonPath } from './common-path.ts';

const CONCURRENCIES = [64];
const PAYERS = 64;
const IDLE_MS = 10_000;
const CPU = 'CPU ms, ';
const OUR_CPU = 'CPU ms of our processes';

/** Stand-ins for what is no part of the product: the chain and the shops of card payments. */
const NOT_OURS = ['chain', 'onramps'];

/** The cost of a settle. */
export const cost: Benchmark = {
  about: 'CPU, bytes, statements, messages and RPC calls per settle',
  run: async (run) => {
    for (const each of pacesOf(run.options)) await part(run, (own) => atPace(own, each));
  },
};

const atPace = async (run: Run, pace: PaceOfRun): Promise<void> => {
  const { slotMs } = pace;
  const parts = await startPayingStack(run, `slots-${slotMs}`, { chainSlotMs: slotMs, payerCount: PAYERS });
  const { bench, vendor, payers } = parts;
  await noteDurability(bench, run);
  // What a settle does does not depend on the pace. Traces are shorter without the wait for a slot.
  if (slotMs === 0) await commonPath(run, bench, vendor, payers);
  for (const concurrency of run.options.concurrencies ?? CONCURRENCIES)
    await perSettle(run, parts, pace, concurrency);
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
    ...Object.fromEntries(Object.entries(pids).map(([name, pid]) => [`${CPU}${name}`, cpuMsOf(pid)])),
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
  { bench, load, ...actors }: PayingStack,
  { named, slotMs }: PaceOfRun,
  concurrency: number,
): Promise<void> => {
  const { rounds, seconds } = run.options;
  const rows: Record<string, number[]> = {};
  let perSecond = 50;
  // The first round warms up: each payer's first settle reads the chain.
  for (let round = 0; round <= rounds; round += 1) {
    run.report.progress(`cost, ${named}: round ${round} of ${rounds}`);
    const count = Math.max(PAYERS, Math.ceil(perSecond * seconds));
    const calls = await settleCalls(bench, load, { ...actors, count });
    await settled(bench);
    const [restBegan, resting] = [performance.now(), await readCounters(bench)];
    await sleep(Math.min(IDLE_MS, seconds * 1000));
    const [began, before] = [performance.now(), await readCounters(bench)];
    const { elapsedMs } = await bench.profiled(() =>
      load.run({
        kind: 'calls',
        origin: bench.stack.gateway_url,
        calls,
        concurrency,
      }),
    );
    perSecond = (calls.length * 1000) / elapsedMs;
    await settled(bench);
    const rest = differences(resting, before);
    const share = (performance.now() - began) / (began - restBegan);
    const spent = differences(before, await readCounters(bench));
    if (round === 0) continue;
    let ourCpu = 0;
    for (const [name, value] of Object.entries(spent)) {
      const each = (value - rest[name]! * share) / calls.length;
      rows[name] = [...(rows[name] ?? []), each];
      if (name.startsWith(CPU) && !NOT_OURS.includes(name.slice(CPU.length))) ourCpu += each;
    }
    rows[OUR_CPU] = [...(rows[OUR_CPU] ?? []), ourCpu];
    rows['settles per second meanwhile'] = [...(rows['settles per second meanwhile'] ?? []), perSecond];
  }
  const title = `per settle, ${named}, concurrency ${concurrency}`;
  run.report.table(
    `${title}, idle cost subtracted`,
    ['', 'min', 'median', 'max'],
    Object.entries(rows).map(([name, values]) => {
      const { min, median, max } = summary(values);
      return [name, min, median, max];
    }),
  );
  run.report.data(title, rows);
  if (slotMs > 0) return;
  run.report.target({
    what: `CPU ms of our processes ${title}`,
    value: summary(rows[OUR_CPU]!).median,
    atMost: 3.5,
  });
};

/** Waits until every paid intent is final. */
export const settled = async ({ db }: BenchStack): Promise<void> => {
  for (let tries = 0; tries < 300; tries += 1) {
    const { rowCount } = await db.query(
      // The condition of an index, because this server's work counts as the product's.
      `select from chain_submitter.intents where status in ('accepted', 'signed', 'confirmed', 'reopened') limit 1`,
    );
    if (rowCount === 0) return;
    await sleep(200);
  }
  throw new Error('some intents did not become final within a minute');
};
