import { z } from 'zod';
import type { Lost } from '../../../../shared/contract/chain-submitter.ts';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { isoTime } from '../../../../shared/lib/clock.ts';

/** A transaction that began before the backup may have committed after it. */
const LATE_COMMIT = sql.fragment`interval '10 minutes'`;

const LostTime = z.object({
  since: z.number().nullable(),
  until: z.number().nullable(),
  owners: z.array(z.string()),
});

/**
 * The time whose records restores have lost, with the owners of the account's wallets; null if no
 * backup was restored. An attempt id has no time, so that any unknown one may be of that time.
 */
export const findLostTime = async (db: Db, accountId: string): Promise<Lost | null> => {
  const { since, until, owners } = await db.one(sql.type(LostTime)`
    select min(taken_at) - ${LATE_COMMIT} as since, max(restored_at) as until,
      array(select owner from payers where account_id = ${accountId} order by wallet_id) as owners
    from restores`);
  return since === null || until === null ? null : { since: isoTime(since), until: isoTime(until), owners };
};

/** When the records begin that restores have lost; null if no backup was restored. */
export const findLostSince = async (db: Db): Promise<string | null> => {
  const { since } = await db.one(sql.type(LostTime.pick({ since: true }))`
    select min(taken_at) - ${LATE_COMMIT} as since from restores`);
  return since === null ? null : isoTime(since);
};

/** Whether a restore may have lost the record of an acceptance of this quote. */
export const mayBeLost = (db: Db, quote: { issued_at: string; expires_at: string }): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ lost: z.boolean() }))`
    select exists (
      select from restores
      where restored_at >= ${quote.issued_at}::timestamptz
        and taken_at - ${LATE_COMMIT} < ${quote.expires_at}::timestamptz
    ) as lost`);
