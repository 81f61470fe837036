import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { packedToken } from '../../../../shared/lib/packed-token.ts';
import { chainState, mayBeStalled } from './conditions.ts';

const Dispatch = z.object({
  settlement_id: z.string(),
  account_id: z.string(),
  payment_attempt_id: z.string(),
  quote_token: packedToken,
  wallet_id: z.string(),
  owner: z.string(),
  authority: z.string(),
  dispatch_count: z.number(),
  generation: z.number(),
  created_at: z.number(),
});
/** The fields of a settlement that its settle job contains. */
export type DispatchRow = z.infer<typeof Dispatch>;

const returning = sql.fragment`returning s.settlement_id, s.account_id, s.payment_attempt_id, s.quote_token, s.wallet_id,
  p.owner, p.authority, s.dispatch_count, s.generation, s.created_at`;

/**
 * Claims settlements without progress (for 15 s while pending, for longer once confirmed, since
 * finality takes its time) and raises their dispatch count, so that the job is published with a new
 * message id (rules 6 and 16).
 */
export const claimStalled = (db: Db, limit: number): Promise<readonly DispatchRow[]> =>
  db.any(sql.type(Dispatch)`
    update settlements as s set dispatch_count = dispatch_count + 1, progressed_at = app_now()
    from payers as p
    where p.wallet_id = s.wallet_id and s.settlement_id in (
      select settlement_id from settlements
      where ${chainState.isOpen} and rail = 'quittance'
        and ${mayBeStalled}
        and progressed_at < app_now() - case chain_status when 'pending' then interval '15 seconds' else interval '45 seconds' end
      order by progressed_at limit ${limit} for update skip locked)
    ${returning}`);

/**
 * Claims one settlement that is under way, whenever it last made progress. Null: absent, or at its
 * end.
 */
export const claimSettlement = (db: Db, settlementId: string): Promise<DispatchRow | null> =>
  db.maybeOne(sql.type(Dispatch)`
    update settlements as s set dispatch_count = dispatch_count + 1, progressed_at = app_now()
    from payers as p
    where p.wallet_id = s.wallet_id and s.settlement_id = ${settlementId} and ${chainState.isOpen}
      and s.rail = 'quittance'
    ${returning}`);
