import { setTimeout as sleep } from 'node:timers/promises';
import { namedMost, readFigures, writeCounts } from '../figures.ts';
import { settleCalls } from '../harness/actors.ts';
import { COUNTED, type Counters, differences, settled, startCounting } from '../harness/counters.ts';
import { type PayingStack, startPayingStack } from '../harness/paying-stack.ts';
import { type Benchmark, part, type Run } from '../harness/run.ts';
import { noteDurability } from '../harness/stack.ts';
import { summary } from '../harness/statistics.ts';
import type { Call } from '../load/job.ts';
import { commonPath } from './common-path.ts';
import { createX402Calls, payFeesAhead } from './x402.ts';

const SLOT_MS = 400;
const IDLE_MS = 8000;
/** Payments of a round: enough that the counts do not depend on how a round begins and ends. */
const PER_CONNECTION = 8;
const FEWEST = 512;

type Scenario = {
  rail: 'settle' | 'x402';
  replicas: number;
  connections: number;
  payers: number;
  /** As an installation writes its WAL: CPU and payments a second count, and its bytes vary. */
  fullPageWrites?: true;
};

const SCENARIOS: Record<string, Scenario> = {
  settle: {
    rail: 'settle',
    replicas: 1,
    connections: 64,
    payers: 64,
  },
  'settle, 128 payers': {
    rail: 'settle',
    replicas: 1,
    connections: 64,
    payers: 128,
  },
  'settle, full page writes': {
    rail: 'settle',
    replicas: 1,
    connections: 64,
    payers: 64,
    fullPageWrites: true,
  },
  'settle, 4 replicas': { rail: 'settle', replicas: 4, connections: 64, payers: 64 },
  'settle, 4 replicas, 256 connections': { rail: 'settle', replicas: 4, connections: 256, payers: 128 },
  x402: { rail: 'x402', replicas: 1, connections: 64, payers: 64 },
};

/**
 * What a payment costs until its transaction is final, in work that can be counted. Timings move
 * with the machine; rows, bytes of the WAL, RPC calls and messages do not.
 */
export const counts: Benchmark = {
  about: 'statements, rows, WAL, messages, RPC calls and CPU per payment, with 1 and 4 replicas (--only)',
  run: async (run) => {
    const wanted = Object.entries(SCENARIOS).filter(([name]) => run.options.only?.includes(name) ?? true);
    if (wanted.length === 0) throw new Error(`--only: one of ${Object.keys(SCENARIOS).join('; ')}`);
    for (const [name, scenario] of wanted) await part(run, (own) => measure(own, name, scenario));
  },
};

type Prepare = (count: number) => Promise<Call[]>;

const preparerOf = async (parts: PayingStack, { rail }: Scenario): Promise<Prepare> => {
  const { bench, load, vendor, payers } = parts;
  if (rail === 'settle') return (count) => settleCalls(bench, load, { vendor, payers, count });
  await payFeesAhead(bench, vendor);
  const signed = await createX402Calls(bench, vendor);
  return (count) => signed(payers, count);
};

const measure = async (run: Run, name: string, scenario: Scenario): Promise<void> => {
  const { replicas, connections, payers: payerCount } = scenario;
  const parts = await startPayingStack(run, name.replaceAll(/\W+/g, '-'), {
    chainSlotMs: SLOT_MS,
    instances: { settlement: replicas, 'chain-submitter': replicas },
    payerCount,
    postgresSettings: { ...COUNTED, ...(scenario.fullPageWrites && { full_page_writes: 'on' }) },
  });
  const { bench, load } = parts;
  await noteDurability(bench, run);
  // Where a chain confirms at the end of a slot, a trace of a settle is mostly a wait.
  if (name === 'settle') await commonPath(run, bench, parts.vendor, parts.payers.slice(0, 20));
  const prepare = await preparerOf(parts, scenario);
  const counting = await startCounting(bench);
  run.defer(counting.stop);
  const count = Math.max(FEWEST, connections * PER_CONNECTION);
  const pay = (calls: Call[]) =>
    load.run({ kind: 'calls', origin: bench.stack.gateway_url, calls, concurrency: connections });
  const rows: Record<string, number[]> = {};
  let statements: Counters = {};
  let wal: Counters = {};
  // The first round warms up: each payer's first settle reads the chain.
  for (let round = 0; round <= run.options.rounds; round += 1) {
    run.report.progress(`counts, ${name}: round ${round} of ${run.options.rounds}`);
    const calls = await prepare(count);
    await settled(bench);
    const [restBegan, resting] = [performance.now(), await counting.read()];
    await sleep(round === 0 ? 0 : IDLE_MS);
    const [began, before] = [performance.now(), await counting.read()];
    const [ranBefore, walFrom] = [await counting.statements(), await counting.position()];
    const { elapsedMs } = await bench.profiled(() => pay(calls));
    await settled(bench);
    const ran = differences(ranBefore, await counting.statements());
    const spent = differences(before, await counting.read());
    if (round === 0) continue;
    const rest = differences(resting, before);
    const share = (performance.now() - began) / (began - restBegan);
    const each = Object.fromEntries(
      Object.entries(spent).map(([what, value]) => [what, (value - rest[what]! * share) / count]),
    );
    const ofOne = (counters: Counters): Counters =>
      Object.fromEntries(Object.entries(counters).map(([what, value]) => [what, value / count]));
    [statements, wal] = [ofOne(ran), ofOne(await counting.walSince(walFrom))];
    each['payments a second'] = (count * 1000) / elapsedMs;
    for (const [what, value] of Object.entries(each)) rows[what] = [...(rows[what] ?? []), value];
  }
  show(run, name, rows);
  showMost(run, `${name}: statements per payment`, statements);
  showMost(run, `${name}: bytes of the WAL per payment`, wal);
};

const show = (run: Run, name: string, rows: Record<string, number[]>): void => {
  /** What each payment may need at most. Counts of work that does not depend on the machine. */
  const atMost = namedMost(readFigures().atMost.bench[name] ?? {});
  run.report.table(
    `${name}: per payment, idle work subtracted`,
    ['', 'min', 'median', 'max'],
    Object.entries(rows).map(([what, values]) => {
      const { min, median, max } = summary(values);
      return [what, min, median, max];
    }),
  );
  run.report.data(name, rows);
  const medians = Object.fromEntries(
    Object.entries(rows).map(([what, values]) => [what, summary(values).median]),
  );
  if (run.options.write) writeCounts(name, medians, new Date().toISOString().slice(0, 7));
  for (const [what, limit] of Object.entries(atMost))
    run.report.target({ what: `${name}: ${what}`, value: summary(rows[what]!).median, atMost: limit });
};

/** What a payment needs most of, in the last round. Idle work is not subtracted. */
const showMost = (run: Run, title: string, counters: Counters): void =>
  run.report.table(
    title,
    ['', 'last round'],
    Object.entries(counters)
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, 24),
  );
