import { settleWith, type Vendor } from '../../deploy/local/seed/actors.ts';
import { must } from '../../deploy/local/seed/api.ts';
import { createBenchVendor, createPayers, type Payer } from '../harness/actors.ts';
import { type Cpu, measured, type Pids, showCpu } from '../harness/cpu.ts';
import { sampled, startLoad } from '../harness/load.ts';
import { compare, type Side } from '../harness/rounds.ts';
import { copyTable, type Issued, insertIssued, templatePayment, writtenColumns } from '../harness/rows.ts';
import type { Benchmark, Run } from '../harness/run.ts';
import { type BenchStack, noteDurability, startBenchStack } from '../harness/stack.ts';
import type { Call } from '../load/job.ts';
import { type Statement, startSkeleton } from '../skeleton/skeleton.ts';

const CONCURRENCY = 16;
/**
 * The number of settlements whose prepaid units are consumed concurrently, because a consume call
 * locks its settlement.
 */
const PREPAID = 256;
/**
 * The ceiling of an authorization, of which each use takes a micro-unit. All of them together are
 * less than a new payer may authorize.
 */
const AUTHORIZED = 18_000n;

type Operation = 'redeem' | 'consume' | 'usage';
type Caller = { token: string };

const post = (path: string, body: object, caller?: Caller): Call => ({
  method: 'POST',
  path,
  ...caller,
  body: JSON.stringify(body),
});

/**
 * Our calls, and the skeleton's replacement: the one statement that the operation cannot do
 * without.
 */
const OPERATIONS: Record<
  Operation,
  {
    atLeast: number;
    /** Whether each call needs its own settlement. Otherwise a few serve all calls. */
    once: boolean;
    units: number | null;
    body: (issued: Issued) => object;
    statement: Statement;
  }
> = {
  redeem: {
    atLeast: 0.8,
    once: true,
    units: null,
    body: ({ settlement_token }) => ({ settlement_token }),
    statement: {
      text: `update bench.settlements set status = 'redeemed', redeemed_at = now(), expires_from = null
        where settlement_id = $1 and status = 'issued' returning settlement_id, status, redeemed_at`,
      values: ['$settlement_id'],
    },
  },
  consume: {
    atLeast: 0.8,
    once: false,
    units: 1_000_000,
    body: ({ settlement_token }) => ({ settlement_token, units: 1, request_id: crypto.randomUUID() }),
    statement: {
      text: 'insert into bench.consumptions values ($1, $2, 1, 1) returning settlement_id, units_consumed',
      values: ['$settlement_id', '$request_id'],
    },
  },
  usage: {
    atLeast: 0.8,
    once: false,
    units: null,
    body: ({ settlement_token }) => ({ settlement_token, amount: '1', usage_id: crypto.randomUUID() }),
    statement: {
      text: 'insert into bench.uses values ($1, $2, 1, 1) returning settlement_id, used_after_pico',
      values: ['$settlement_id', '$request_id'],
    },
  },
};

const benchmark = (operation: Operation): Benchmark => ({
  about: `POST /v1/settlements/:id/${operation} against the skeleton`,
  run: async (run) => {
    const bench = await startBenchStack(run, 'stack', { chainSlotMs: 0 });
    await noteDurability(bench, run);
    await compareWithSkeleton(run, bench, operation);
  },
});

/** Measures an operation against the skeleton, and sets its target. */
export const compareWithSkeleton = async (
  run: Run,
  bench: BenchStack,
  operation: Operation,
): Promise<void> => {
  const { atLeast } = OPERATIONS[operation];
  const cpu: Cpu = {};
  const sides = await sidesOf(run, bench, operation, cpu);
  const title = `${operation}, concurrency ${CONCURRENCY}`;
  const ratios = await compare(run, title, sides);
  showCpu(run, `${title}: CPU ms per call`, cpu);
  const value = ratios.skeleton!.perSecond.median;
  run.report.target({ what: `${operation}: throughput, share of the skeleton’s`, value, atLeast });
};

/** Open authorizations, as the API makes them. */
const authorize = async (bench: BenchStack, vendor: Vendor, payer: Payer): Promise<Issued[]> => {
  const { api } = bench;
  const token = await payer.token();
  const body = { service_id: vendor.serviceId, capture: 'usage', max_amount: AUTHORIZED.toString() };
  const made: Issued[] = [];
  while (made.length < PREPAID) {
    const some = Array.from({ length: Math.min(16, PREPAID - made.length) }, async () => {
      const quote = await must(
        api<{ quote_token: string }>('POST /v1/quote', { token: vendor.apiKey, body }),
        'quote',
      );
      return must(settleWith(api, token, quote), 'settle');
    });
    made.push(...(await Promise.all(some)));
  }
  return made;
};

const sidesOf = async (run: Run, bench: BenchStack, operation: Operation, cpu: Cpu): Promise<Side[]> => {
  const { once, units, body, statement } = OPERATIONS[operation];
  const load = await startLoad();
  run.defer(load.stop);
  const vendor = await createBenchVendor(bench);
  const [payer] = await createPayers(bench, 1);
  const template = await templatePayment(bench, vendor, payer!);
  const issue = (count: number) =>
    insertIssued(bench, template.settlementId, { count, serviceId: vendor.serviceId, units });
  for (const table of ['settlement.settlements', 'settlement.consumptions', 'settlement.uses'])
    await copyTable(bench.db, table);
  const written = (await writtenColumns(bench.db, 'settlement.settlements'))
    .map(({ name }) => name)
    .join(', ');
  const skeleton = await startSkeleton(run, bench, { skeleton: statement });
  const pids: Pids = () => ({ ...bench.pids(), ...skeleton.pids, load: load.pid });

  const open = () => (operation === 'usage' ? authorize(bench, vendor, payer!) : issue(PREPAID));
  const shared = once ? [] : await open();
  /** The number of calls that a round needs at most, by the rate of the previous round. */
  const rates = new Map<string, number>();
  const settlementsFor = async (side: string, seconds: number): Promise<Issued[]> => {
    const count = Math.ceil((rates.get(side) ?? 1500) * seconds * 1.5) + CONCURRENCY;
    if (once) return issue(count);
    return Array.from({ length: count }, (_, index) => shared[index % shared.length]!);
  };
  const round = async (side: string, origin: string, calls: Call[], seconds: number) => {
    const sample = sampled(
      await load.run({ kind: 'calls', concurrency: CONCURRENCY, calls, origin, seconds }),
    );
    rates.set(side, sample.perSecond);
    return sample;
  };
  const ours: Side = {
    name: 'ours',
    round: async (seconds) => {
      const calls = (await settlementsFor('ours', seconds)).map((issued) =>
        post(`/v1/settlements/${issued.settlement_id}/${operation}`, body(issued), { token: vendor.apiKey }),
      );
      const calling = () => round('ours', bench.stack.gateway_url, calls, seconds);
      return bench.profiled(() => measured(pids, cpu, 'ours', calling));
    },
  };
  const other: Side = {
    name: 'skeleton',
    round: async (seconds) => {
      const settlements = await settlementsFor('skeleton', seconds);
      await bench.db.query(
        `insert into bench.settlements (${written}) select ${written} from settlement.settlements
         where settlement_id = any($1)
         on conflict do nothing`,
        [[...new Set(settlements.map(({ settlement_id }) => settlement_id))]],
      );
      const calls = settlements.map((issued) =>
        post('/skeleton', { ...issued, request_id: crypto.randomUUID() }),
      );
      return measured(pids, cpu, 'skeleton', () => round('skeleton', skeleton.origin, calls, seconds));
    },
  };
  return [ours, other];
};

export const redeem = benchmark('redeem');
export const consume = benchmark('consume');
