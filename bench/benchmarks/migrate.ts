import { createHash } from 'node:crypto';
import pg from 'pg';
import { examine, type Runnable, runMigrations } from '../../shared/db/run-migrations.ts';
import { type PayingStack, startPayingStack } from '../harness/paying-stack.ts';
import { projected, templatePayment } from '../harness/rows.ts';
import type { Benchmark, Run } from '../harness/run.ts';
import { seedSettlements } from '../harness/seed.ts';
import { noteDurability } from '../harness/stack.ts';
import { percentile } from '../harness/statistics.ts';
import type { Outcome } from '../load/job.ts';

const PER_SECOND = 50;
/** More than the calls that are open at this rate, so that a call which stops holds up no other. */
const CONCURRENCY = 64;
const PAYERS = 8;
/** Access tokens are renewed between two slices. */
const SLICE_SECONDS = 60;

/**
 * What a release does to a large table: a column with values in every row, an index and a bound for
 * it, and a wider check of a state.
 */
const FILES: readonly string[] = [
  'alter table settlements add column net_amount bigint',
  'alter table settlements add constraint settlements_net check (net_amount >= 0) not valid',
  `-- in batches
   with batch as (
     select settlement_id from settlements where settlement_id > $1 order by settlement_id limit 1000
   ), changed as (
     update settlements set net_amount = quote_amount - fee_amount
     where settlement_id in (select settlement_id from batch) and net_amount is null
   )
   select max(settlement_id) from batch`,
  '-- no transaction\ncreate index concurrently if not exists settlements_by_net on settlements (net_amount)',
  'alter table settlements validate constraint settlements_net',
  `alter table settlements drop constraint settlements_chain_status_check,
     add constraint settlements_chain_status_check
       check (chain_status in ('none', 'pending', 'confirmed', 'finalized', 'failed', 'other')) not valid`,
  'alter table settlements validate constraint settlements_chain_status_check',
];

const migrations: readonly Runnable[] = FILES.map((text, index) => ({
  name: `services/settlement/migrations/9${String(index + 1).padStart(3, '0')}_bench.sql`,
  checksum: createHash('sha256').update(text).digest('hex'),
  text,
}));

/** Payments at a fixed rate while a table is migrated. Each later call would wait behind a lock. */
export const migrate: Benchmark = {
  about: `migrates --rows settlements under ${PER_SECOND} payments a second: the longest call`,
  run: async (run) => {
    const { report, options } = run;
    const paying = await startPayingStack(run, 'stack', { chainSlotMs: 0, payerCount: PAYERS });
    const { bench } = paying;
    await noteDurability(bench, run);
    await seed(run, paying, options.rows);

    report.progress('migrate: measuring without a migration');
    // A payer's first settle reads the chain.
    await pay(paying, 3);
    const before = [await pay(paying, options.seconds)];

    const migrating = migrateTable(run, bench.stack.postgres_urls.settlement);
    const during: Outcome[] = [];
    let isOver = false;
    const over = migrating.finally(() => {
      isOver = true;
    });
    // It fails at the end, when the payments have been counted.
    over.catch(() => {});
    while (!isOver) {
      report.progress(`migrate: ${paymentsOf(during)} payments`);
      during.push(await pay(paying, Math.min(SLICE_SECONDS, options.seconds)));
    }
    report.table('Migrations of settlements', ['file', 'seconds'], await over);
    show(run, { before, during });
  },
};

const seed = async (run: Run, { bench, vendor, payers }: PayingStack, rows: number): Promise<void> => {
  const [payer] = payers;
  const payment = await templatePayment(bench, vendor, payer!);
  await projected(bench, payment.settlementId);
  const { accountId, walletId } = {
    accountId: payer!.consumer.signIn.account.account_id,
    walletId: payer!.consumer.walletId,
  };
  await seedSettlements(
    run,
    bench.db,
    {
      ...payment,
      vendor: { accountId: vendor.signIn.account.account_id, serviceId: vendor.serviceId },
      payer: { accountId, walletId },
    },
    rows,
  );
};

/** Payments at the rate, from the first call to the last answer. @throws if a call is refused */
const pay = async ({ bench, load, vendor, payers }: PayingStack, seconds: number): Promise<Outcome> =>
  load.run({
    kind: 'payments',
    origin: bench.stack.gateway_url,
    vendor: { apiKey: vendor.apiKey, serviceId: vendor.serviceId },
    payerTokens: await Promise.all(payers.map(({ token }) => token())),
    concurrency: CONCURRENCY,
    seconds,
    perSecond: PER_SECOND,
  });

/** @returns a row for each file, with its seconds */
const migrateTable = async ({ report }: Run, url: string): Promise<[string, number][]> => {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  try {
    const applied = await admin.query<{ name: string; checksum: string }>(
      'select name, checksum from settlement.migrations',
    );
    const rows: [string, number][] = [];
    for (const [index, { text }] of migrations.entries()) {
      const own = [...applied.rows, ...migrations.slice(0, index + 1)];
      const { pending } = await examine(admin, 'settlement', own);
      const startedAt = performance.now();
      await runMigrations(admin, 'settlement', pending as Runnable[], report.note);
      rows.push([text.replaceAll(/\s+/g, ' ').slice(0, 70), (performance.now() - startedAt) / 1000]);
    }
    return rows;
  } finally {
    await admin.end();
  }
};

const STEPS = ['quote', 'settle', 'redeem'] as const;
const timesOf = (outcomes: readonly Outcome[], step: (typeof STEPS)[number]): number[] =>
  outcomes.flatMap(({ times }) => times[step] ?? []);
const paymentsOf = (outcomes: readonly Outcome[]): number => timesOf(outcomes, 'redeem').length;

const show = (run: Run, sides: { before: readonly Outcome[]; during: readonly Outcome[] }): void => {
  const { rows } = run.options;
  const figures = Object.entries(sides).flatMap(([side, outcomes]) =>
    STEPS.map((step) => {
      const times = timesOf(outcomes, step);
      return [
        `${step}, ${side === 'before' ? 'without a migration' : 'while it migrates'}`,
        times.length,
        percentile(times, 0.5),
        percentile(times, 0.99),
        percentile(times, 1),
      ];
    }),
  );
  run.report.table(
    `${PER_SECOND} payments a second, ms`,
    ['call', 'calls', 'p50', 'p99', 'longest'],
    figures,
  );
  const late = sides.during.reduce((sum, { statuses }) => sum + (statuses[202] ?? 0), 0);
  run.report.target({ what: 'settles that were not confirmed in 15 s', value: late, atMost: 0 });
  run.report.target({
    what: `longest call while ${rows} settlements are migrated, ms`,
    value: Math.max(...STEPS.map((step) => percentile(timesOf(sides.during, step), 1))),
    atMost: 1000,
  });
};
