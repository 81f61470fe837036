import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { matching, type Page, pageBy } from '../../../../shared/lists/page.ts';
import { chainStatuses, statuses } from '../model/status.ts';
import { chainState, isConsumable, state, windowElapsed } from './conditions.ts';

export const Row = z.object({
  settlement_id: z.string(),
  account_id: z.string(),
  payment_attempt_id: z.string(),
  delegate_id: z.string().nullable(),
  wallet_id: z.string(),
  quote_id: z.string(),
  quote_token: z.string(),
  vendor_account_id: z.string(),
  service_id: z.string(),
  quote_amount: z.bigint(),
  fee_amount: z.bigint(),
  status: z.enum(statuses.states),
  chain_status: z.enum(chainStatuses.states),
  tx_hash: z.string().nullable(),
  superseded_tx_hashes: z.array(z.string()),
  settlement_token: z.string().nullable(),
  issued_at: z.number().nullable(),
  redeem_window_seconds: z.number(),
  redeem_expires_at: z.number().nullable(),
  redeemed_at: z.number().nullable(),
  redeem_id: z.string().nullable(),
  failure_code: z.string().nullable(),
  failure_message: z.string().nullable(),
  // Null: not prepaid.
  units_total: z.number().nullable(),
  units_consumed: z.number(),
  created_at: z.number(),
  // Of the moment of reading: an issued settlement past its window counts as expired before the job has marked it.
  elapsed: z.boolean(),
});
export type SettlementRow = z.infer<typeof Row>;

export const columns = sql.fragment`settlement_id, account_id, payment_attempt_id, delegate_id, wallet_id, quote_id,
  quote_token, vendor_account_id, service_id, quote_amount, fee_amount, status, chain_status, tx_hash,
  superseded_tx_hashes, settlement_token, issued_at, redeem_window_seconds, redeem_expires_at, redeemed_at, redeem_id,
  failure_code, failure_message, units_total, units_consumed, created_at,
  coalesce(${windowElapsed}, false) as elapsed`;

/** By id, whoever owns it: for the service's own use, never straight into an answer. */
export const getSettlement = (db: Db, settlementId: string): Promise<SettlementRow> =>
  db.one(sql.type(Row)`select ${columns} from settlements where settlement_id = ${settlementId}`);

/** The same for a fact of another service, which may speak of what this database does not know. */
export const findSettlement = (db: Db, settlementId: string): Promise<SettlementRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from settlements where settlement_id = ${settlementId}`);

const Terms = Row.pick({
  settlement_id: true,
  quote_id: true,
  account_id: true,
  delegate_id: true,
  wallet_id: true,
  service_id: true,
  vendor_account_id: true,
  quote_amount: true,
  fee_amount: true,
  redeem_window_seconds: true,
  created_at: true,
});
/** What of a settlement never changes, and every fact about it says. */
export type Terms = z.infer<typeof Terms>;

/** Of those of the settlements that are known here, in no order. */
export const listTerms = (db: Db, settlementIds: readonly string[]): Promise<readonly Terms[]> =>
  db.any(sql.type(Terms)`
    select settlement_id, quote_id, account_id, delegate_id, wallet_id, service_id, vendor_account_id, quote_amount,
      fee_amount, redeem_window_seconds, created_at
    from settlements where settlement_id = any(${sql.array([...settlementIds], 'text')})`);

/** The attempt of a payer's account, or null. */
export const findAttempt = (db: Db, accountId: string, attemptId: string): Promise<SettlementRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from settlements where account_id = ${accountId} and payment_attempt_id = ${attemptId}`);

/** The settlement of a payer's account that pays a quote, or has paid it; null: none, or it failed. */
export const findPayingSettlement = (db: Db, accountId: string, quoteId: string): Promise<SettlementRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from settlements
    where quote_id = ${quoteId} and ${state.isNot('failed')} and account_id = ${accountId}`);

/** Who may see which settlements: it goes into the query, so that a forgotten check finds nothing. */
export type Viewer =
  | { as: 'service'; service_id: string }
  | { as: 'payer'; account_id: string }
  | { as: 'delegate'; account_id: string; delegate_id: string }
  | { as: 'vendor'; account_id: string }
  | { as: 'either'; account_id: string };

const seenBy = (viewer: Viewer) => {
  switch (viewer.as) {
    case 'service':
      return sql.fragment`service_id = ${viewer.service_id}`;
    case 'payer':
      return sql.fragment`account_id = ${viewer.account_id}`;
    case 'delegate':
      return sql.fragment`account_id = ${viewer.account_id} and delegate_id = ${viewer.delegate_id}`;
    case 'vendor':
      return sql.fragment`vendor_account_id = ${viewer.account_id}`;
    case 'either':
      return sql.fragment`(account_id = ${viewer.account_id} or vendor_account_id = ${viewer.account_id})`;
  }
};

/** The viewer's settlement, or null: another's does not exist for them. */
export const findSettlementInScope = (db: Db, viewer: Viewer, settlementId: string): Promise<SettlementRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from settlements where settlement_id = ${settlementId} and ${seenBy(viewer)}`);

const Verified = Row.pick({
  settlement_id: true,
  service_id: true,
  quote_token: true,
  quote_amount: true,
  fee_amount: true,
  status: true,
  chain_status: true,
  tx_hash: true,
  redeem_expires_at: true,
  redeemed_at: true,
  units_total: true,
  units_consumed: true,
  elapsed: true,
});
export type VerifyRequest = { settlement_id: string; service_id: string };

/**
 * What a service may verify, in one statement for all that is sought at the moment. The ids are given as an array too: of
 * the rows of a document Postgres assumes a hundred, and would rather read all of a service's settlements.
 * @returns in their order; null: not this service's
 */
export const findForVerify = async (
  db: Db,
  sought: readonly VerifyRequest[],
): Promise<(z.infer<typeof Verified> | null)[]> => {
  const ids = sought.map(({ settlement_id }) => settlement_id);
  const rows = await db.any(sql.type(Verified)`
    select s.settlement_id, s.service_id, quote_token, quote_amount, fee_amount, status, chain_status, tx_hash,
      redeem_expires_at, redeemed_at, units_total, units_consumed,
      coalesce(${windowElapsed}, false) as elapsed
    from jsonb_to_recordset(${JSON.stringify(sought)}::jsonb) as sought(settlement_id text, service_id uuid)
    join settlements as s on s.settlement_id = sought.settlement_id and s.service_id = sought.service_id
    where s.settlement_id = any(${sql.array(ids, 'text')})`);
  const keyOf = ({ settlement_id, service_id }: VerifyRequest) => `${settlement_id} ${service_id}`;
  const found = new Map(rows.map((row) => [keyOf(row), row]));
  return sought.map((each) => found.get(keyOf(each)) ?? null);
};

export type SettlementScope = {
  viewer: Viewer;
  status?: SettlementRow['status'] | undefined;
  service_id?: string | undefined;
  payment_attempt_id?: string | undefined;
};

/** A page of the viewer's settlements, newest first, and one more. */
export const listSettlements = (
  db: Db,
  { viewer, status, service_id, payment_attempt_id }: SettlementScope,
  page: Page,
): Promise<readonly SettlementRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from settlements
    where ${seenBy(viewer)} ${matching({ service_id, payment_attempt_id })}
      ${status === undefined ? sql.fragment`` : sql.fragment`and ${hasStatus(status)}`}
      ${pageBy('settlement_id', page)}`);

const hasStatus = (status: SettlementRow['status']) => {
  if (status === 'issued') return sql.fragment`${state.is('issued')} and not ${windowElapsed}`;
  if (status === 'expired') {
    return sql.fragment`(${state.is('expired')} or (${state.is('issued')} and ${windowElapsed}))`;
  }
  return sql.fragment`status = ${status}`;
};

const ActivityRow = z.object({ open: z.boolean(), ends_at: z.number().nullable() });

/**
 * Whether a service's settlements are under way, can be redeemed or have prepaid units to draw, and when the last
 * redeem window of all ends: the days in which units may be drawn are the caller's to add, since they are everybody's.
 */
export const getActivity = (db: Db, serviceId: string): Promise<z.infer<typeof ActivityRow>> =>
  db.one(sql.type(ActivityRow)`
    select
      coalesce(bool_or(
        ${chainState.is('pending')}
        or ${state.is('issued')} and not ${windowElapsed}
        or ${state.is('redeemed')} and units_consumed < units_total and ${chainState.isNot('failed')} and ${isConsumable}
      ), false) as open,
      max(redeem_expires_at + forked_for) as ends_at
    from settlements where service_id = ${serviceId}`);

const OfQuote = z.object({
  quote_id: z.string(),
  settlement_id: z.string(),
  status: z.enum(statuses.states),
});

/** Of each quote the settlement that did not fail (rule 2: there is one at most), or else the one that is named. */
export const listLatestByQuotes = (
  db: Db,
  quotes: readonly { quote_id: string; settlement_id: string | null }[],
): Promise<readonly z.infer<typeof OfQuote>[]> =>
  db.any(sql.type(OfQuote)`
    select quote_id, found.settlement_id, found.status
    from jsonb_to_recordset(${JSON.stringify(quotes)}::jsonb) as asked(quote_id text, settlement_id text)
    cross join lateral (
      select settlement_id, status from settlements s where s.quote_id = asked.quote_id and s.status <> 'failed'
      union all
      select settlement_id, status from settlements s
      where s.settlement_id = asked.settlement_id and s.quote_id = asked.quote_id and s.status = 'failed'
      limit 1
    ) as found`);

/** Settlements that were ever issued, after an id in the order of ids. */
export const listIssued = (
  db: Db,
  { after, limit }: { after: string | null; limit: number },
): Promise<readonly SettlementRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from settlements
    where issued_at is not null ${after === null ? sql.fragment`` : sql.fragment`and settlement_id > ${after}`}
    order by settlement_id limit ${limit}`);

/** Those of the named settlements that were ever issued. */
export const listIssuedByIds = (db: Db, ids: readonly string[]): Promise<readonly SettlementRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from settlements
    where issued_at is not null and settlement_id = any(${sql.array(ids, 'text')})`);
