import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';

const Spent = z.object({ wallet_id: z.string(), spent: z.bigint() });

/**
 * The sum of each wallet's payments that were issued since a time or are under way: the chain may
 * have executed the latter already. Zero for a wallet that paid nothing.
 */
export const sumSpent = (
  db: Db,
  wallets: readonly { account_id: string; wallet_id: string; since: string }[],
): Promise<readonly z.infer<typeof Spent>[]> =>
  db.any(sql.type(Spent)`
    select w.wallet_id, coalesce(sum(s.quote_amount), 0)::bigint as spent
    from jsonb_to_recordset(${JSON.stringify(wallets)}::jsonb)
      as w(account_id text, wallet_id text, since timestamptz)
    left join settlements s on s.account_id = w.account_id and s.wallet_id = w.wallet_id
      and s.status <> 'failed' and s.chain_status not in ('none', 'failed')
      and coalesce(s.issued_at, app_now()) >= w.since
    group by w.wallet_id`);
