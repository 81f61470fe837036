import { z } from 'zod';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { type Db, type Pool, sql } from '../../../shared/db/pool.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';

const Undelivered = z.object({
  settlement_id: z.string(),
  vendor_account_id: z.string().nullable(),
  rail: z.string(),
  quote_amount: z.bigint(),
  created_at: z.number(),
  redeem_expires_at: z.number().nullable(),
});

/** A client waits for its answer for a minute, so a younger payment may still be handed out. */
const LATE_AFTER = sql.fragment`interval '5 minutes'`;
/** So many of the newest payments of other protocols are read at most. */
const INCOMING_READ = 10_000;

/** Paid, not redeemed, and still redeemable: the window ends at `redeem_expires_at`. */
const listUnredeemed = (db: Db, limit: number) =>
  db.any(sql.type(Undelivered)`
    select settlement_id, vendor_account_id, rail, quote_amount, created_at, redeem_expires_at
    from settlements where expires_from is not null and status = 'issued' and created_at < app_now() - ${LATE_AFTER}
    order by expires_from limit ${limit}`);

/** Payments of other clients whose success nobody has got. They have no window, so they stay. */
const listNotHandedOut = (db: Db, limit: number) =>
  db.any(sql.type(Undelivered)`
    select settlement_id, vendor_account_id, rail, quote_amount, created_at, redeem_expires_at
    from settlements join (
      select settlement_id from incoming_payments order by settlement_id desc limit ${INCOMING_READ}
    ) as newest using (settlement_id)
    where status = 'issued' and refund_reserved = 0 and created_at < app_now() - ${LATE_AFTER}
    order by settlement_id desc limit ${limit}`);

/** Payments that are paid and that their vendors have not redeemed, the oldest first. */
export const listUndelivered =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.internal.listUndelivered> =>
  async ({ limit }) => {
    const found = await Promise.all([listUnredeemed(pool, limit), listNotHandedOut(pool, limit)]);
    return found
      .flat()
      .toSorted((a, b) => a.created_at - b.created_at)
      .slice(0, limit)
      .map(({ quote_amount, created_at, redeem_expires_at, ...row }) => ({
        ...row,
        amount: formatMicro(quote_amount),
        created_at: isoTime(created_at),
        redeem_expires_at: isoTimeOrNull(redeem_expires_at),
      }));
  };
