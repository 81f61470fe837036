import { z } from 'zod';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { type Db, type Pool, sql } from '../../../shared/db/pool.ts';
import { isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { idBoundAt } from '../../../shared/lib/id.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';

/** So many of the newest payments are read at most, by their ids, which sort by time. */
const READ = 100_000;
const MESSAGES = 20;

const Failed = z.object({
  failure_code: z.string(),
  failure_message: z.string(),
  payments: z.bigint().transform(Number),
  vendors: z.bigint().transform(Number),
  newest: z.string(),
});

const Reversed = z.object({
  settlement_id: z.string(),
  vendor_account_id: z.string().nullable(),
  quote_amount: z.bigint(),
  status: z.string(),
  tx_hash: z.string().nullable(),
  failure_code: z.string().nullable(),
  redeemed_at: z.number().nullable(),
});

const newestSince = (since: string) => sql.fragment`newest as (
  select settlement_id, status, chain_status, failure_code, failure_message, vendor_account_id, quote_amount, tx_hash,
    issued_at, redeemed_at
  from settlements where settlement_id >= ${idBoundAt('stl', Date.parse(since))}
  order by settlement_id desc limit ${READ})`;

const listFailed = (db: Db, since: string) =>
  db.any(sql.type(Failed)`
    with ${newestSince(since)}
    select failure_code, failure_message, count(*) as payments, count(distinct vendor_account_id) as vendors,
      max(settlement_id) as newest
    from newest where status = 'failed'
    group by failure_code, failure_message order by payments desc limit ${MESSAGES}`);

const listReversed = (db: Db, since: string, limit: number) =>
  db.any(sql.type(Reversed)`
    with ${newestSince(since)}
    select settlement_id, vendor_account_id, quote_amount, status, tx_hash, failure_code, redeemed_at
    from newest where chain_status = 'failed' and issued_at is not null order by settlement_id desc limit ${limit}`);

const countRead = (db: Db, since: string) =>
  db.oneFirst(sql.type(z.object({ payments: z.bigint().transform(Number) }))`
    with ${newestSince(since)} select count(*) as payments from newest`);

/** Why payments have failed since a time, and which were reversed by a fork. */
export const listFailures =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.listFailures> =>
  async ({ since, limit }) => {
    const [failed, reversed, payments] = await Promise.all([
      listFailed(pool, since),
      listReversed(pool, since, limit),
      countRead(pool, since),
    ]);
    return {
      payments,
      all: payments < READ,
      failed: [...failed],
      reversed: reversed.map(({ quote_amount, redeemed_at, ...row }) => ({
        ...row,
        amount: formatMicro(quote_amount),
        redeemed_at: isoTimeOrNull(redeemed_at),
      })),
    };
  };
