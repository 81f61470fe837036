import type { Vendor } from '../../deploy/local/seed/actors.ts';
import { must } from '../../deploy/local/seed/api.ts';
import { createBenchVendor, createPayers, freshToken, type Payer } from '../harness/actors.ts';
import { type Load, sampled, startLoad } from '../harness/load.ts';
import { type Samples, showRatio, showSamples } from '../harness/rounds.ts';
import { projected, templatePayment } from '../harness/rows.ts';
import type { Benchmark, Run } from '../harness/run.ts';
import { seedSettlements } from '../harness/seed.ts';
import { type BenchStack, noteDurability, startBenchStack } from '../harness/stack.ts';
import type { Sample } from '../harness/statistics.ts';
import type { Call } from '../load/job.ts';

/** Few at once, because the duration of a call is measured and not the capacity of the machine. */
const CONCURRENCY = 4;
const PAYERS = 8;
const PAGE = 20;
const FAR_PAGE = 1000;
const [FIRST_PAGE, FAR_LIST] = ['list, first page', `list, page ${FAR_PAGE}`];

type Sized = {
  size: number;
  bench: BenchStack;
  vendor: Vendor;
  payers: Payer[];
  reads: () => Promise<Record<string, Call>>;
};
type Figures = Record<string, Sample>;

/**
 * Every size has its own stack, so that the sizes are measured in turns. An idle stack costs next
 * to nothing.
 */
export const growth: Benchmark = {
  about: 'quote, settle, redeem and list with --sizes settlements in the tables (0,100000,3000000)',
  run: async (run) => {
    const { rounds, seconds, sizes } = run.options;
    const load = await startLoad();
    run.defer(load.stop);
    const sized: Sized[] = [];
    for (const size of sizes) sized.push(await prepare(run, size));
    await noteDurability(sized[0]!.bench, run);

    const samples: Record<string, Samples> = {};
    for (const each of sized) await measure(load, each, Math.min(3, seconds));
    for (let round = 0; round < rounds; round += 1) {
      for (const each of round % 2 === 0 ? sized : sized.toReversed()) {
        run.report.progress(`growth: round ${round + 1} of ${rounds}, ${each.size} settlements`);
        for (const [what, sample] of Object.entries(await measure(load, each, seconds))) {
          samples[what] ??= {};
          samples[what][named(each.size)] ??= [];
          samples[what][named(each.size)]!.push(sample);
        }
      }
    }
    show(run, samples, sizes);
  },
};

const named = (size: number): string => `${size} settlements`;

const prepare = async (run: Run, size: number): Promise<Sized> => {
  const bench = await startBenchStack(run, `size-${size}`, { chainSlotMs: 0 });
  const vendor = await createBenchVendor(bench);
  const payers = await createPayers(bench, PAYERS);
  const [payer] = payers as [Payer];
  const payment = await templatePayment(bench, vendor, payer);
  await projected(bench, payment.settlementId);
  const startedAt = performance.now();
  await seedSettlements(
    run,
    bench.db,
    {
      ...payment,
      vendor: { accountId: vendor.signIn.account.account_id, serviceId: vendor.serviceId },
      payer: { accountId: payer.consumer.signIn.account.account_id, walletId: payer.consumer.walletId },
    },
    size,
  );
  const took = ((performance.now() - startedAt) / 1000).toFixed(0);
  const { rows } = await bench.db.query<{ size: string }>(
    'select pg_size_pretty(pg_database_size(current_database())) as size',
  );
  run.report.note(`${named(size)}: seeded in ${took} s, the database has ${rows[0]!.size}`);
  if (size > 0) await showBytes(run, bench, size);
  return { size, bench, vendor, payers, reads: await readsOf(bench, vendor, { payer, size }) };
};

/** The lists of a vendor that has a fourth of all settlements, and what it and a payer read. */
const readsOf = async (
  bench: BenchStack,
  vendor: Vendor,
  { payer, size }: { payer: Payer; size: number },
): Promise<Sized['reads']> => {
  const vendorToken = freshToken(bench.api, vendor.signIn);
  const read = (path: string, token: string): Call => ({ method: 'GET', path, token });
  const settlements = (query: string) => read(`/v1/settlements?limit=${PAGE}${query}`, vendor.apiKey);
  const cursor = await farCursor(bench, vendor, size);
  return async () => ({
    [FIRST_PAGE]: settlements(''),
    ...(cursor !== null && { [FAR_LIST]: settlements(`&cursor=${encodeURIComponent(cursor)}`) }),
    'transactions of the vendor': read(`/v1/transactions?limit=${PAGE}`, await vendorToken()),
    'summary of a payer': read('/v1/spending/summary', await payer.token()),
  });
};

/** So many settlements are projected from the measured bytes. */
const PROJECTED = 100_000_000;
/** The tables whose rows are the accounts', not the settlements'. */
const OF_ACCOUNTS = ['accounts', 'sessions', 'services', 'keys', 'wallets', 'snapshots', 'payers'];

/** The bytes of a settlement by table, and what so many settlements take. */
const showBytes = async (run: Run, { db }: BenchStack, size: number): Promise<void> => {
  const { rows } = await db.query<{ name: string; heap: number; indexes: number }>(
    `select c.oid::regclass::text as name, pg_table_size(c.oid)::float8 as heap, pg_indexes_size(c.oid)::float8 as indexes
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname = any('{quote,settlement,chain_submitter,wallet}') and c.relname <> all($1)
     order by pg_total_relation_size(c.oid) desc limit 5`,
    [OF_ACCOUNTS],
  );
  const gigabytes = (bytes: number) => (bytes / size) * (PROJECTED / 1e9);
  const shown = rows.map(({ name, heap, indexes }) => [
    name,
    heap / size,
    indexes / size,
    gigabytes(heap + indexes),
  ]);
  const sum = (column: number) => shown.reduce((total, row) => total + Number(row[column]), 0);
  run.report.table(
    `Bytes per settlement with ${size}, and GB for ${PROJECTED / 1e6} million`,
    ['table', 'rows', 'indexes', 'GB'],
    [...shown, ['all', sum(1), sum(2), sum(3)]],
  );
  run.report.target({ what: `bytes per settlement with ${size}`, value: sum(1) + sum(2), atMost: 4_683 });
};

/**
 * The cursor of page 1,000, reached page by page as a client does; null if the page does not exist.
 */
const farCursor = async ({ api }: BenchStack, vendor: Vendor, size: number): Promise<string | null> => {
  const [pages, limit] = [((FAR_PAGE - 1) * PAGE) / 100, 100];
  // A fourth of the seeded settlements is this vendor's.
  if (size / 4 < FAR_PAGE * PAGE) return null;
  let cursor: string | null = null;
  for (let page = 0; page < pages; page += 1) {
    const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const list: { next_cursor: string | null } = await must(
      api<{ next_cursor: string | null }>(`GET /v1/settlements?limit=${limit}${more}`, {
        token: vendor.apiKey,
      }),
      'list',
    );
    cursor = list.next_cursor;
  }
  return cursor;
};

const measure = async (load: Load, sized: Sized, seconds: number): Promise<Figures> => {
  const { bench, vendor, payers } = sized;
  const common = { origin: bench.stack.gateway_url, concurrency: CONCURRENCY, seconds };
  const payerTokens = await Promise.all(payers.map(({ token }) => token()));
  const reads = await sized.reads();
  const figures: Figures = {};
  await bench.profiled(async () => {
    const payments = await load.run({ kind: 'payments', vendor, payerTokens, ...common });
    for (const step of ['quote', 'settle', 'redeem'] as const) figures[step] = sampled(payments, step);
    const listing = async (call: Call) =>
      sampled(
        await load.run({ kind: 'calls', calls: [call], repeat: true, ...common, seconds: seconds / 2 }),
      );
    for (const [what, call] of Object.entries(reads)) figures[what] = await listing(call);
  });
  return figures;
};

const show = (run: Run, samples: Record<string, Samples>, sizes: readonly number[]): void => {
  const [empty, largest] = [named(Math.min(...sizes)), named(Math.max(...sizes))];
  for (const [what, bySize] of Object.entries(samples)) {
    showSamples(run, what, bySize);
    if (bySize[empty] === undefined || empty === largest) continue;
    const { p50 } = showRatio(run, `${what}: ${largest} against ${empty}`, bySize[largest]!, bySize[empty]!);
    run.report.target({ what: `${what}: p50 with ${largest}`, value: p50.median, atMost: 1.2 });
  }
  const far = samples[FAR_LIST]?.[largest];
  if (far === undefined) return;
  const first = samples[FIRST_PAGE]![largest]!;
  const { p50 } = showRatio(run, `list: page ${FAR_PAGE} against the first, ${largest}`, far, first);
  run.report.target({
    what: `list: p50 of page ${FAR_PAGE} with ${largest}`,
    value: p50.median,
    atMost: 1.2,
  });
};
