import type pg from 'pg';
import { purgeOldUses } from '../../services/settlement/delivering/purge-uses.ts';
import { spendingSummary } from '../../services/wallet/transactions/spending-summary.ts';
import type { Pool } from '../../shared/db/pool.ts';
import { readsOf } from '../../shared/db/reads.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { startBenchDatabase } from '../harness/database.ts';
import type { Benchmark, Run } from '../harness/run.ts';
import { percentile } from '../harness/statistics.ts';

const AUTHORIZATIONS = 1_000;
const USES = 1_000;
/** How many uses a second of an authorization has. */
const RATES = [1, 10];
const DAY_MS = 86_400_000;

/** The payments of one account, their days, and what they are grouped by. */
const PAYMENTS = 10_000_000;
const [DAYS, DELEGATES, SERVICES] = [91, 20, 10];
const AT_ONCE = 1_000_000;
const SUMMARIES = 50;

/** What sums take and save, in a database alone. */
export const sums: Benchmark = {
  about: `bytes of uses before and after the purge; a summary of ${PAYMENTS / 1e6} million payments of an account`,
  run: async (run) => {
    const database = await startBenchDatabase(run);
    await measurePurge(run, database.admin, await database.poolOf('settlement'));
    await measureSummaries(run, database.admin, await database.poolOf('wallet'));
  },
};

const measurePurge = async (run: Run, admin: pg.Pool, pool: Pool): Promise<void> => {
  const purge = purgeOldUses({ pool, clock: () => Date.now() + 90 * DAY_MS });
  const rows: (string | number)[][] = [];
  for (const rate of RATES)
    rows.push([`${rate} a second`, ...(await measureUses(run, admin, { rate, purge }))]);
  run.report.table('Bytes of a use: rows and indexes', ['uses', 'before', 'after', 'purged a second'], rows);
};

/** Ended authorizations with their uses, which are as long as those of the SDK. */
const insertUses = async (admin: pg.Pool, rate: number): Promise<void> => {
  const id = `'stl_' || lpad(i::text, 26, '0')`;
  await admin.query(`set search_path = settlement, public;
    truncate settlements, payers cascade;
    insert into payers (wallet_id, account_id, owner, authority, balance, allowance, as_of_slot) values ('w', 'a', 'o', 'd', 0, 0, 0);
    insert into settlements (settlement_id, account_id, payment_attempt_id, wallet_id, quote_id, quote_token,
      vendor_account_id, service_id, quote_amount, fee_amount, redeem_window_seconds, is_authorization, status,
      chain_status, holding, settlement_token, under_way_since, expires_from)
    select ${id}, 'a', i, 'w', i, '', 'v', gen_random_uuid(), 1000000, 10000, 900, true, 'voided', 'none', false, '', null, null
    from generate_series(1, ${AUTHORIZATIONS}) as i;
    insert into authorizations (settlement_id, account_id, vendor_account_id, wallet_id, mode, ceiling, used_pico,
      ends_at, voided_at, capped_at)
    select ${id}, 'a', 'v', 'w', 'usage', 1000000, ${USES}, now(), now() - interval '31 days', now()
    from generate_series(1, ${AUTHORIZATIONS}) as i;
    insert into uses (settlement_id, usage_id, amount_pico, used_after_pico, reason, created_at)
    select ${id}, gen_random_uuid(), 1, n, 'GET /forecast', now() - interval '32 days' + n / ${rate}.0 * interval '1 second'
    from generate_series(1, ${AUTHORIZATIONS}) as i, generate_series(1, ${USES}) as n;`);
  for (const table of ['settlements', 'authorizations', 'uses', 'use_sums'])
    await admin.query(`vacuum analyze settlement.${table}`);
};

const bytesOf = async (admin: pg.Pool, table: string): Promise<number> => {
  const { rows } = await admin.query<{ bytes: number }>(
    'select pg_total_relation_size($1::regclass)::float8 as bytes',
    [`settlement.${table}`],
  );
  return rows[0]!.bytes / (AUTHORIZATIONS * USES);
};

const measureUses = async (
  run: Run,
  admin: pg.Pool,
  { rate, purge }: { rate: number; purge: () => Promise<void> },
): Promise<number[]> => {
  run.report.progress(`uses: ${rate} a second`);
  await insertUses(admin, rate);
  const before = await bytesOf(admin, 'uses');
  const startedAt = performance.now();
  await purge();
  const seconds = (performance.now() - startedAt) / 1000;
  const { rows } = await admin.query<{ sum: string }>(
    'select sum(amount_pico) as sum from settlement.use_sums',
  );
  if (Number(rows[0]!.sum) !== AUTHORIZATIONS * USES) throw new Error('the sums are not those of the uses');
  return [before, await bytesOf(admin, 'use_sums'), (AUTHORIZATIONS * USES) / seconds];
};

/** Finalized payments of the last 91 days, with their sums as the service has them. */
const insertPayments = async (run: Run, admin: pg.Pool): Promise<void> => {
  await admin.query(
    'drop index wallet.transactions_out, wallet.transactions_in, wallet.transactions_by_delegate',
  );
  for (let from = 0; from < PAYMENTS; from += AT_ONCE) {
    run.report.progress(`payments: ${from} of ${PAYMENTS}`);
    await admin.query(
      `insert into wallet.transactions (object_id, type, status, from_account_id, to_account_id, amount, fee_amount,
         service_id, delegate_id, created_at)
       select 'stl_' || lpad(i::text, 26, '0'), 'payment', 'finalized', 'payer', 'vendor', 1000 + i % 7, 10,
         md5((i % ${SERVICES})::text)::uuid, 'delegate' || i % ${DELEGATES},
         now() - interval '${DAYS} days' + i * (interval '${DAYS} days' / ${PAYMENTS})
       from generate_series($1::bigint, $2::bigint) as i`,
      [from, from + AT_ONCE - 1],
    );
  }
  run.report.progress('payments: indexes and sums');
  await admin.query(`set search_path = wallet, public;
    create index transactions_out on transactions (from_account_id, type, created_at desc, object_id desc);
    create index transactions_in on transactions (to_account_id, type, created_at desc, object_id desc);
    insert into day_sums (account_id, side, day, delegate_id, service_id, amount, fee_amount, transfers)
    select from_account_id, 'paid', (created_at at time zone 'UTC')::date, delegate_id, service_id, sum(amount), sum(fee_amount),
      count(*)
    from transactions group by 1, 2, 3, 4, 5`);
  for (const table of ['transactions', 'day_sums']) await admin.query(`vacuum analyze wallet.${table}`);
};

const measureSummaries = async (run: Run, admin: pg.Pool, pool: Pool): Promise<void> => {
  await insertPayments(run, admin);
  const summary = spendingSummary({ reads: readsOf(pool), clock: Date.now });
  const from = (ms: number) => isoTime(Math.floor(Date.now() / DAY_MS) * DAY_MS - ms);
  const all = from((DAYS + 1) * DAY_MS);
  const asked = {
    '92 days by day': { from: all, group_by: 'day' },
    '92 days by service': { from: all, group_by: 'service' },
    '92 days by delegate': { from: all, group_by: 'delegate' },
    'the default, 30 days by day': {},
    'the same from noon on, with the rows of half a day': { from: from(29.5 * DAY_MS) },
  } as const;
  const rows: (string | number)[][] = [];
  for (const [what, input] of Object.entries(asked)) {
    const took: number[] = [];
    let count = 0;
    for (let call = 0; call < SUMMARIES; call += 1) {
      const startedAt = performance.now();
      const answer = await summary(input, {
        kind: 'jwt',
        account_id: 'payer',
        session_id: 's',
        auth_time: 0,
      });
      took.push(performance.now() - startedAt);
      count = answer.payment_count;
    }
    if (what.startsWith('92') && count !== PAYMENTS)
      throw new Error(`${count} of ${PAYMENTS} payments are counted`);
    const [p50, p99] = [percentile(took, 0.5), percentile(took, 0.99)];
    rows.push([what, count, Math.min(...took), p50, p99]);
    if (!what.includes('noon'))
      run.report.target({ what: `summary, ${what}: p50 in ms`, value: p50, atMost: 50 });
  }
  run.report.table(
    `Summaries of an account with ${PAYMENTS} payments, ms`,
    ['what', 'payments', 'least', 'p50', 'p99'],
    rows,
  );
};
