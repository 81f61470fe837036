import { z } from 'zod';
import { Payees, Rail } from '../../../../shared/contract/settlement.ts';
import { QuoteClaims } from '../../../../shared/contract/tokens.ts';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { packedToken } from '../../../../shared/lib/tokens/packed-token.ts';
import { matching, type Page, pageBy } from '../../../../shared/lists/page.ts';
import { chainStatuses, statuses } from '../model/status.ts';
import { chainState, isOpenSale, isOutgoingPayment, isUsable, state, windowElapsed } from './conditions.ts';

export const Row = z.object({
  settlement_id: z.string(),
  rail: Rail,
  // Null of an incoming payment on another rail, as are attempt, wallet and quote.
  account_id: z.string().nullable(),
  payment_attempt_id: z.string().nullable(),
  delegate_id: z.string().nullable(),
  wallet_id: z.string().nullable(),
  quote_id: z.string().nullable(),
  quote_token: packedToken.nullable(),
  /** Null without a quote too. */
  scope: QuoteClaims.shape.scope,
  // Null of an outgoing payment, whose vendor has no account here.
  vendor_account_id: z.string().nullable(),
  service_id: z.string().nullable(),
  quote_amount: z.bigint(),
  fee_amount: z.bigint(),
  status: z.enum(statuses.states),
  chain_status: z.enum(chainStatuses.states),
  tx_hash: z.string().nullable(),
  superseded_tx_hashes: z.array(z.string()),
  settlement_token: packedToken.nullable(),
  issued_at: z.number().nullable(),
  redeem_window_seconds: z.number().nullable(),
  redeem_expires_at: z.number().nullable(),
  redeemed_at: z.number().nullable(),
  redeem_id: z.string().nullable(),
  failure_code: z.string().nullable(),
  failure_message: z.string().nullable(),
  // Null: not prepaid.
  units_total: z.number().nullable(),
  // Null: not an authorization.
  max_amount: z.bigint().nullable(),
  // Units, or micro-units of an authorization.
  units_consumed: z.bigint(),
  // Only of an authorization.
  capture_mode: z.enum(['manual', 'usage']).nullable(),
  unit_price: z.bigint().nullable(),
  at_risk_at: z.number().nullable(),
  voided_at: z.number().nullable(),
  // Only of an extension.
  extends: z.string().nullable(),
  // Only of another rail.
  payer_address: z.string().nullable(),
  source_account: z.string().nullable(),
  service_name: z.string().nullable(),
  payout_address: z.string().nullable(),
  // Only of an outgoing payment.
  payees: Payees.nullable(),
  resource: z.string().nullable(),
  accrued_fee: z.bigint(),
  created_at: z.number(),
  // At the time of the read: an issued settlement past its window counts as expired even before the
  // job has marked it.
  elapsed: z.boolean(),
  // At the time of the read: use can be reported of the authorization.
  usable: z.boolean(),
});
export type SettlementRow = z.infer<typeof Row>;

/**
 * Everybody whom an outgoing payment pays. Null of another one. The id of the payees has a name of
 * its own, so that `settlement_id` is that of the row, from whatever it is selected.
 */
const payeesShown = sql.fragment`case when ${isOutgoingPayment} then (
    select jsonb_agg(jsonb_build_object('address', payee.address, 'amount', payee.amount::text) order by payee.ord)
    from outgoing_payees as payee (paid_by) where payee.paid_by = settlement_id) end as payees`;

export const columns = sql.fragment`settlement_id, rail, account_id, payment_attempt_id, delegate_id, wallet_id, quote_id,
  quote_token, scope, vendor_account_id, service_id, quote_amount, fee_amount, status, chain_status, tx_hash,
  superseded_tx_hashes, settlement_token, issued_at, redeem_window_seconds, redeem_expires_at, redeemed_at, redeem_id,
  failure_code, failure_message, units_total, max_amount, units_consumed, capture_mode, unit_price, at_risk_at,
  voided_at, extends, payer_address, source_account, service_name,
  payout_address, ${payeesShown}, resource, accrued_fee, created_at,
  coalesce(${windowElapsed}, false) as elapsed, ${isUsable} as usable`;

/** By id, in no scope: for the service's own use, never directly for an answer. */
export const getSettlement = (db: Db, settlementId: string): Promise<SettlementRow> =>
  db.one(sql.type(Row)`select ${columns} from settlements where settlement_id = ${settlementId}`);

/** The same for several ids, in their order. */
export const getSettlements = async (
  db: Db,
  settlementIds: readonly string[],
): Promise<readonly SettlementRow[]> => {
  const rows = await db.many(sql.type(Row)`
    select ${columns} from settlements where settlement_id = any(${sql.array([...settlementIds], 'text')})`);
  const found = new Map(rows.map((row) => [row.settlement_id, row]));
  return settlementIds.map((id) => found.get(id)!);
};

/** The same for an event of another service, whose settlement may be absent in this database. */
export const findSettlement = (db: Db, settlementId: string): Promise<SettlementRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from settlements where settlement_id = ${settlementId}`);

const Terms = Row.pick({
  settlement_id: true,
  rail: true,
  quote_id: true,
  scope: true,
  account_id: true,
  delegate_id: true,
  wallet_id: true,
  service_id: true,
  vendor_account_id: true,
  quote_amount: true,
  fee_amount: true,
  redeem_window_seconds: true,
  payer_address: true,
  payees: true,
  resource: true,
  created_at: true,
  max_amount: true,
});
/** What events have, and what never changes once the amount is decided. */
export type Terms = z.infer<typeof Terms>;

/** The terms of the settlements that this database has, in no order. */
export const listTerms = (db: Db, settlementIds: readonly string[]): Promise<readonly Terms[]> =>
  db.any(sql.type(Terms)`
    select settlement_id, rail, quote_id, scope, account_id, delegate_id, wallet_id, service_id, vendor_account_id,
      quote_amount, fee_amount, redeem_window_seconds, payer_address, ${payeesShown}, resource, created_at, max_amount
    from settlements where settlement_id = any(${sql.array([...settlementIds], 'text')})`);

/** The attempt of a payer's account, or null. */
export const findAttempt = (db: Db, accountId: string, attemptId: string): Promise<SettlementRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from settlements where account_id = ${accountId} and payment_attempt_id = ${attemptId}`);

/** The account's settlement that pays a quote or has paid it. Null: none, or it failed. */
export const findPayingSettlement = (
  db: Db,
  accountId: string,
  quoteId: string,
): Promise<SettlementRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from settlements
    where paying_quote_id = ${quoteId} and account_id = ${accountId}`);

/**
 * Which settlements a caller may see. It is part of the query, so a forgotten check returns
 * nothing.
 */
export type Scope =
  | { as: 'service'; service_id: string }
  | { as: 'payer'; account_id: string }
  | { as: 'delegate'; account_id: string; delegate_id: string }
  | { as: 'vendor'; account_id: string }
  | { as: 'either'; account_id: string };

const inScope = (scope: Scope) => {
  switch (scope.as) {
    case 'service':
      return sql.fragment`service_id = ${scope.service_id}`;
    case 'payer':
      return sql.fragment`account_id = ${scope.account_id}`;
    case 'delegate':
      return sql.fragment`account_id = ${scope.account_id} and delegate_id = ${scope.delegate_id}`;
    case 'vendor':
      return sql.fragment`vendor_account_id = ${scope.account_id}`;
    case 'either':
      return sql.fragment`(account_id = ${scope.account_id} or vendor_account_id = ${scope.account_id})`;
  }
};

/** The settlement, or null where it is outside the scope: a caller cannot learn that it exists. */
export const findSettlementInScope = (
  db: Db,
  scope: Scope,
  settlementId: string,
): Promise<SettlementRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from settlements where settlement_id = ${settlementId} and ${inScope(scope)}`);

const Verified = Row.pick({
  settlement_id: true,
  service_id: true,
  scope: true,
  quote_amount: true,
  fee_amount: true,
  status: true,
  chain_status: true,
  tx_hash: true,
  redeem_expires_at: true,
  redeemed_at: true,
  units_total: true,
  units_consumed: true,
  max_amount: true,
  capture_mode: true,
  unit_price: true,
  at_risk_at: true,
  voided_at: true,
  quote_token: true,
  usable: true,
  elapsed: true,
}).extend({ service_id: z.string() });
export type VerifyRequest = { settlement_id: string; service_id: string };

/**
 * The columns that verify shows, in one statement for all requests of the moment. The ids are bound
 * as an array too: the planner assumes a hundred rows for a JSON document, and would scan all
 * settlements of a service.
 * @returns in the order of the requests; null: not this service's settlement
 */
export const findForVerify = async (
  db: Db,
  requests: readonly VerifyRequest[],
): Promise<(z.infer<typeof Verified> | null)[]> => {
  const ids = requests.map(({ settlement_id }) => settlement_id);
  const rows = await db.any(sql.type(Verified)`
    select s.settlement_id, s.service_id, scope, quote_amount, fee_amount, status, chain_status, tx_hash,
      redeem_expires_at, redeemed_at, units_total, units_consumed, max_amount, capture_mode, unit_price,
      at_risk_at, voided_at, case when max_amount is not null then quote_token end as quote_token,
      coalesce(${windowElapsed}, false) as elapsed, ${isUsable} as usable
    from jsonb_to_recordset(${JSON.stringify(requests)}::jsonb) as input(settlement_id text, service_id uuid)
    join settlements as s on s.settlement_id = input.settlement_id and s.service_id = input.service_id
    where s.settlement_id = any(${sql.array(ids, 'text')})`);
  const keyOf = ({ settlement_id, service_id }: VerifyRequest) => `${settlement_id} ${service_id}`;
  const found = new Map(rows.map((row) => [keyOf(row), row]));
  return requests.map((each) => found.get(keyOf(each)) ?? null);
};

type SettlementFilter = {
  scope: Scope;
  status?: SettlementRow['status'] | undefined;
  rail?: SettlementRow['rail'] | undefined;
  service_id?: string | undefined;
  payment_attempt_id?: string | undefined;
};

/** A page of the settlements in scope, newest first, and one more row. */
export const listSettlements = (
  db: Db,
  { scope, status, rail, service_id, payment_attempt_id }: SettlementFilter,
  page: Page,
): Promise<readonly SettlementRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from settlements
    where ${inScope(scope)} ${matching({ rail, service_id, payment_attempt_id })}
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
 * Whether any settlement of a service is under way, can be redeemed or has prepaid units left, and
 * when the last redeem window ends. The caller adds the days in which units can be consumed,
 * because they are the same for all settlements.
 */
export const getActivity = (db: Db, serviceId: string): Promise<z.infer<typeof ActivityRow>> =>
  db.one(sql.type(ActivityRow)`
    select
      coalesce(bool_or(
        ${chainState.is('pending')} or ${isOpenSale}
      ), false) as open,
      max(redeem_expires_at + forked_for) as ends_at
    from settlements where service_id = ${serviceId}`);

const OfQuote = z.object({
  quote_id: z.string(),
  settlement_id: z.string(),
  status: z.enum(statuses.states).exclude(['merged']),
});

/**
 * The settlement of each quote that did not fail and is not void (rule 2: at most one), or else the
 * one of the given id. An extension has the status of the authorization that it extended.
 */
export const listLatestByQuotes = (
  db: Db,
  quotes: readonly { quote_id: string; settlement_id: string | null }[],
): Promise<readonly z.infer<typeof OfQuote>[]> =>
  db.any(sql.type(OfQuote)`
    select quote_id, found.settlement_id, found.status
    from jsonb_to_recordset(${JSON.stringify(quotes)}::jsonb) as input(quote_id text, settlement_id text)
    cross join lateral (
      select s.settlement_id, coalesce(raised.status, s.status) as status
      from settlements s left join settlements raised on raised.settlement_id = s.extends
      where s.paying_quote_id = input.quote_id
      union all
      select settlement_id, status from settlements s
      where s.settlement_id = input.settlement_id and s.quote_id = input.quote_id and s.status in ('failed', 'voided')
      limit 1
    ) as found`);

/** Settlements that were ever issued, in the order of their ids, after the given one. */
export const listIssued = (
  db: Db,
  { after, limit }: { after: string | null; limit: number },
): Promise<readonly SettlementRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from settlements
    where issued_at is not null ${after === null ? sql.fragment`` : sql.fragment`and settlement_id > ${after}`}
    order by settlement_id limit ${limit}`);

/** The settlements of these ids that were ever issued. */
export const listIssuedByIds = (db: Db, ids: readonly string[]): Promise<readonly SettlementRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from settlements
    where issued_at is not null and settlement_id = any(${sql.array(ids, 'text')})`);
