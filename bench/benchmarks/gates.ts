import { setTimeout as sleep } from 'node:timers/promises';
import { sampled, startLoad } from '../frame/load.ts';
import { createBenchVendor, createPayers } from '../frame/people.ts';
import { cpuMsOf } from '../frame/process-figures.ts';
import { compare, type Side } from '../frame/rounds.ts';
import { copyTable, type Issued, insertIssued, templatePayment } from '../frame/rows.ts';
import type { Benchmark, Run } from '../frame/run.ts';
import { type BenchStack, noteDurability, startBenchStack } from '../frame/stack.ts';
import { summary } from '../frame/statistics.ts';
import type { Call } from '../load/job.ts';
import { type Statement, startSkeleton } from '../skeleton/skeleton.ts';

const CONCURRENCY = 16;
/** As many settlements as prepaid units are drawn from at once: a draw locks its settlement. */
const PREPAID = 256;
const AFTERMATH_MS = 1500;

type Operation = 'redeem' | 'verify' | 'consume';
type Caller = { token: string };

const post = (path: string, body: object | undefined, caller?: Caller): Call => ({
  method: 'POST',
  path,
  ...caller,
  ...(body !== undefined && { body: JSON.stringify(body) }),
});

/** Our calls, and what the skeleton does instead: the one statement without which the operation is none. */
const OPERATIONS: Record<
  Operation,
  {
    atLeast: number;
    /** Each call needs a settlement of its own; otherwise some serve all. */
    once: boolean;
    units: number | null;
    body: (issued: Issued) => object | undefined;
    statements: Record<string, Statement>;
  }
> = {
  redeem: {
    atLeast: 0.7,
    once: true,
    units: null,
    body: ({ settlement_token }) => ({ settlement_token }),
    statements: {
      skeleton: {
        text: `update bench.settlements set status = 'redeemed', redeemed_at = now()
          where settlement_id = $1 and status = 'issued' returning settlement_id, status, redeemed_at`,
        values: ['$settlement_id'],
      },
    },
  },
  verify: {
    atLeast: 0.8,
    once: false,
    units: null,
    body: () => undefined,
    statements: {
      'skeleton-reading': {
        text: 'select * from bench.settlements where settlement_id = $1',
        values: ['$settlement_id'],
      },
      skeleton: {
        text: 'insert into bench.consumptions values ($1, $2, 1, 1) returning settlement_id',
        values: ['$settlement_id', '$request_id'],
      },
    },
  },
  consume: {
    atLeast: 0.6,
    once: false,
    units: 1_000_000,
    body: ({ settlement_token }) => ({ settlement_token, units: 1, request_id: crypto.randomUUID() }),
    statements: {
      skeleton: {
        text: 'insert into bench.consumptions values ($1, $2, 1, 1) returning settlement_id, units_consumed',
        values: ['$settlement_id', '$request_id'],
      },
    },
  },
};

const benchmark = (operation: Operation): Benchmark => ({
  about: `POST /v1/settlements/:id/${operation} against the skeleton`,
  run: async (run) => {
    const bench = await startBenchStack(run, 'stack', { chainSlotMs: 0 });
    await noteDurability(bench, run);
    const { atLeast, statements } = OPERATIONS[operation];
    const [[ours, ...others], cpu] = await sidesOf(run, bench, operation);
    const title = `${operation}, concurrency ${CONCURRENCY}`;
    const ratios = await compare(run, title, [ours!, ...others]);
    showCpu(run, `${title}: CPU ms per call of ours`, cpu);
    for (const name of Object.keys(statements)) {
      const value = ratios[name]!.perSecond.median;
      run.report.target({ what: `${operation}: throughput, share of the ${name}’s`, value, atLeast });
    }
  },
});

/** CPU milliseconds per call of every process, by its name, a round each. */
type Cpu = Record<string, number[]>;

const readCpu = (bench: BenchStack): Record<string, number> =>
  Object.fromEntries(Object.entries(bench.pids()).map(([name, pid]) => [name, cpuMsOf(pid)]));

/** The round that warms up is not shown. */
const showCpu = (run: Run, title: string, cpu: Cpu): void => {
  const rows = Object.entries(cpu).map(([name, values]): [string, number, number, number] => {
    const { min, median, max } = summary(values.slice(1));
    return [name, min, median, max];
  });
  rows.sort(([, , a], [, , b]) => b - a);
  run.report.table(title, ['', 'min', 'median', 'max'], rows);
};

const sidesOf = async (run: Run, bench: BenchStack, operation: Operation): Promise<[Side[], Cpu]> => {
  const { once, units, body, statements } = OPERATIONS[operation];
  const load = await startLoad();
  run.defer(load.stop);
  const vendor = await createBenchVendor(bench);
  const [payer] = await createPayers(bench, 1);
  const template = await templatePayment(bench, vendor, payer!);
  const issue = (count: number) =>
    insertIssued(bench, template.settlementId, { count, serviceId: vendor.serviceId, units });
  for (const table of ['settlement.settlements', 'settlement.consumptions']) await copyTable(bench.db, table);
  const skeleton = await startSkeleton(run, bench, statements);

  const shared = once ? [] : await issue(PREPAID);
  /** What a round needs at most, by the rate of the one before it. */
  const rates = new Map<string, number>();
  const settlementsFor = async (side: string, seconds: number, repeat: boolean): Promise<Issued[]> => {
    if (repeat) return shared;
    const count = Math.ceil((rates.get(side) ?? 1500) * seconds * 1.5) + CONCURRENCY;
    if (once) return issue(count);
    return Array.from({ length: count }, (_, index) => shared[index % shared.length]!);
  };
  const round = async (
    side: string,
    origin: string,
    job: { calls: Call[]; repeat: boolean },
    seconds: number,
  ) => {
    const common = { kind: 'calls', concurrency: CONCURRENCY } as const;
    const sample = sampled(await load.run({ ...common, ...job, origin, seconds }));
    rates.set(side, sample.perSecond);
    return sample;
  };
  const cpu: Cpu = {};
  const ours: Side = {
    name: 'ours',
    round: async (seconds) => {
      const repeat = operation === 'verify';
      const settlements = await settlementsFor('ours', seconds, repeat);
      const calls = settlements.map((issued) =>
        post(`/v1/settlements/${issued.settlement_id}/${operation}`, body(issued), { token: vendor.apiKey }),
      );
      const before = readCpu(bench);
      const sample = await bench.profiled(() =>
        round('ours', bench.stack.gateway_url, { calls, repeat }, seconds),
      );
      // What follows a call belongs to it: facts that others take, rows that are deleted.
      await sleep(AFTERMATH_MS);
      let all = 0;
      for (const [name, ms] of Object.entries(readCpu(bench))) {
        const each = (ms - before[name]!) / sample.calls;
        cpu[name] = [...(cpu[name] ?? []), each];
        all += each;
      }
      cpu.all = [...(cpu.all ?? []), all];
      return sample;
    },
  };
  const others = Object.keys(statements).map(
    (name): Side => ({
      name,
      round: async (seconds) => {
        const repeat = name === 'skeleton-reading';
        const settlements = await settlementsFor(name, seconds, repeat);
        await bench.db.query(
          `insert into bench.settlements select * from settlement.settlements where settlement_id = any($1)
         on conflict do nothing`,
          [[...new Set(settlements.map(({ settlement_id }) => settlement_id))]],
        );
        const calls = settlements.map((issued) =>
          post(`/${name}`, { ...issued, request_id: crypto.randomUUID() }),
        );
        return round(name, skeleton.origin, { calls, repeat }, seconds);
      },
    }),
  );
  return [[ours, ...others], cpu];
};

export const redeem = benchmark('redeem');
export const verify = benchmark('verify');
export const consume = benchmark('consume');
