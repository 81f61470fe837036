import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { packedToken } from '../../../../shared/lib/tokens/packed-token.ts';
import { isUnderWay, mayBeStalled } from './conditions.ts';

type Fragment = ReturnType<typeof sql.fragment>;

/** Which payments of a rail are resumed, and what their resume reads of them. */
export type Stalling<Claimed> = {
  /** SQL: the settlement is of this rail. */
  isOwn: Fragment;
  /** SQL: how long a payment under way may make no progress. */
  mayStallFor: Fragment;
  /** The columns that it reads, of those that a claim returns. */
  claimed: z.ZodType<Claimed>;
};

export const Dispatch = z.object({
  settlement_id: z.string(),
  account_id: z.string(),
  payment_attempt_id: z.string(),
  quote_token: packedToken,
  wallet_id: z.string(),
  owner: z.string(),
  authority: z.string(),
  dispatch_count: z.number(),
  generation: z.number(),
  /** When it was accepted, or its capture was decided. */
  created_at: z.number(),
  /** What is paid of an authorization. */
  capture_amount: z.bigint().nullable(),
  /** The quotes that have raised its ceiling. Null: none, or not an authorization. */
  extension_tokens: z.array(packedToken).nullable(),
});
/** The column `extension_tokens` of the settlements in `table`. */
export const extensionTokens = (table: string) => sql.fragment`case when extensions is not null then array(
    select extension.quote_token from settlements as extension
    where extension.extends = ${sql.identifier([table])}.settlement_id order by extension.settlement_id
  ) end as extension_tokens`;

/** The fields of a settlement that its settle job contains. */
export type DispatchRow = z.infer<typeof Dispatch>;

/**
 * Claims payments: raises their dispatch count, so that a job is published with a new message id
 * (rules 6 and 16).
 */
const claim = (which: Fragment) => sql.fragment`
  update settlements as s set dispatch_count = dispatch_count + 1, progressed_at = app_now()
  where ${which}
  returning settlement_id, account_id, payment_attempt_id, quote_token, wallet_id, dispatch_count, generation,
    under_way_since as created_at, case when max_amount is not null then quote_amount end as capture_amount,
    message_hash, source_account, vendor_account_id, ${extensionTokens('s')},
    (select owner from payers where payers.wallet_id = s.wallet_id) as owner,
    (select authority from payers where payers.wallet_id = s.wallet_id) as authority`;

/** Claims payments of a rail without progress. */
export const claimStalled = <Claimed>(
  db: Db,
  { isOwn, mayStallFor, claimed }: Stalling<Claimed>,
  limit: number,
): Promise<readonly Claimed[]> =>
  db.any(
    sql.type(claimed)`${claim(sql.fragment`settlement_id in (
      select settlement_id from settlements
      where ${isOwn} and ${mayBeStalled} and progressed_at < app_now() - ${mayStallFor}
      order by progressed_at limit ${limit} for update skip locked)`)}`,
  );

/**
 * Claims one settlement that is under way, whenever it last made progress. Null: absent, or at its
 * end.
 */
export const claimSettlement = (
  db: Db,
  settlementId: string,
  { isOwn, claimed }: Stalling<DispatchRow>,
): Promise<DispatchRow | null> =>
  db.maybeOne(
    sql.type(claimed)`${claim(sql.fragment`settlement_id = ${settlementId} and ${isUnderWay} and ${isOwn}`)}`,
  );
