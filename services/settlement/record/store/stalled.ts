import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { packedToken } from '../../../../shared/lib/tokens/packed-token.ts';
import { isUnderWay, mayBeStalled } from './conditions.ts';

type Fragment = ReturnType<typeof sql.fragment>;

/** Which payments of a rail are resumed, and what their resume reads of them. */
export type Stalling<Claimed> = {
  /** SQL: the settlement is of this rail. */
  isOwn: Fragment;
  /** SQL: how long a payment under way, settlement `s`, may make no progress. */
  mayStallFor: Fragment;
  /** SQL: what it reads of settlement `s`, besides its id and generation. */
  columns: Fragment;
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
  /** The quotes of its extensions. Null: none, or not an authorization. */
  extension_tokens: z.array(packedToken).nullable(),
});
/** The column `extension_tokens` of the settlements in `table`. */
export const extensionTokens = (table: string) => sql.fragment`case when is_authorization then nullif(array(
    select added.quote_token from extensions as added
    where added.settlement_id = ${sql.identifier([table])}.settlement_id order by added.extension_id
  ), '{}') end as extension_tokens`;

/** The columns of `Dispatch` of settlement `s`. */
export const dispatchColumns = sql.fragment`account_id, payment_attempt_id, quote_token, wallet_id, dispatch_count,
  under_way_since as created_at, case when is_authorization then quote_amount end as capture_amount,
  ${extensionTokens('s')},
  (select owner from payers where payers.wallet_id = s.wallet_id) as owner,
  (select authority from payers where payers.wallet_id = s.wallet_id) as authority`;

/** The fields of a settlement that its settle job contains. */
export type DispatchRow = z.infer<typeof Dispatch>;

/**
 * Claims payments: counts a further dispatch, so that a job is published with a new message id
 * (rules 6 and 16).
 */
const claim = (which: Fragment, columns: Fragment) => sql.fragment`
  update settlements as s set dispatch_count = dispatch_count + 1, progressed_at = app_now()
  where ${which}
  returning settlement_id, generation, ${columns}`;

/** Claims payments of a rail without progress. */
export const claimStalled = <Claimed>(
  db: Db,
  { isOwn, mayStallFor, columns, claimed }: Stalling<Claimed>,
  limit: number,
): Promise<readonly Claimed[]> => {
  const stalled = sql.fragment`settlement_id in (
      select settlement_id from settlements as s
      where ${isOwn} and ${mayBeStalled} and progressed_at < app_now() - ${mayStallFor}
      order by progressed_at limit ${limit} for update skip locked)`;
  return db.any(sql.type(claimed)`${claim(stalled, columns)}`);
};

/**
 * Claims one settlement that is under way, whenever it last made progress. Null: absent, or at its
 * end.
 */
export const claimSettlement = (
  db: Db,
  settlementId: string,
  { isOwn, columns, claimed }: Stalling<DispatchRow>,
): Promise<DispatchRow | null> => {
  const one = sql.fragment`settlement_id = ${settlementId} and ${isUnderWay} and ${isOwn}`;
  return db.maybeOne(sql.type(claimed)`${claim(one, columns)}`);
};
