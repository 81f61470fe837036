import { z } from 'zod';
import { Payees, Rail } from '../../../../shared/contract/settlement.ts';
import { QuoteClaims } from '../../../../shared/contract/tokens.ts';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { packedToken } from '../../../../shared/lib/tokens/packed-token.ts';
import { matching, type Page, pageBy } from '../../../../shared/lists/page.ts';
import { ofAttempt, ofQuote } from '../../keys/store.ts';
import { chainStatuses, statuses } from '../model/status.ts';
import {
  chainState,
  isIncoming,
  isOpenSale,
  isOutgoingPayment,
  isUsable,
  state,
  windowElapsed,
} from './conditions.ts';
import { microOf } from './pico.ts';

/** An extension of an authorization. Its amount is part of the ceiling. */
const ExtensionRow = z.object({
  extension_id: z.string(),
  payment_attempt_id: z.string(),
  quote_id: z.string(),
  amount: z.string(),
  created_at: z.number(),
});
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
  units_consumed: z.bigint(),
  // Null: not an authorization, which alone has the others.
  ceiling: z.bigint().nullable(),
  used: z.bigint().nullable(),
  mode: z.enum(['manual', 'usage']).nullable(),
  unit_price: z.bigint().nullable(),
  ends_at: z.number().nullable(),
  at_risk_at: z.number().nullable(),
  voided_at: z.number().nullable(),
  extensions: z.array(ExtensionRow).nullable(),
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

/** What an authorization has besides. No column has the name of one of settlements. */
const ofAuthorization = sql.fragment`(
    select settlement_id as authorization_id, mode, ceiling, ${microOf(sql.fragment`used_pico`)} as used,
      ${microOf(sql.fragment`unit_price_pico`)} as unit_price, unit_price_pico, ends_at, due_at, retry_at, sought_at, at_risk_at,
      capturing_at, voided_at
    from authorizations) as a`;

/** What only some kinds of payment have, of a row of incoming_payments. */
const ofIncoming = sql.fragment`payer_address, source_account, service_name, payout_address, resource, accrued_fee,
  message_hash, memo, page_handle, handed_out_at, hand_out_id, null::json as requirement, null::smallint as x402_version,
  null::timestamptz as capped_at, null::jsonb as payees`;
/** The same of a row of outgoing_payments. */
const ofOutgoing = sql.fragment`payer_address, source_account, service_name, null, resource, 0, message_hash, null, null,
  null, null, requirement, x402_version, outgoing.capped_at, (
    select jsonb_agg(jsonb_build_object('address', payee.address, 'amount', payee.amount::text) order by payee.ord)
    from outgoing_payees as payee where payee.settlement_id = outgoing.paid_by
  )`;

/**
 * What a payment to or from others has besides, as `of_kind`.
 * @param incoming its rows of incoming_payments, if the statement has just written them
 */
const ofOthers = (incoming: string) => sql.fragment`left join lateral (
    select ${ofIncoming} from ${sql.identifier([incoming])} as incoming (paid_by)
    where ${isIncoming} and incoming.paid_by = settlement_id
    union all
    select ${ofOutgoing} from outgoing_payments as outgoing (paid_by)
    where ${isOutgoingPayment} and outgoing.paid_by = settlement_id
  ) as of_kind on true`;

/**
 * Settlements with what only some kinds of payment have. For a quote whose whole amount is paid no
 * other table is read: the join looks for no id. The id has another name in the others, so that
 * `settlement_id` is that of the settlement.
 * @param incoming as of `ofOthers`
 */
export const withKinds = (
  table = 'settlements',
  incoming = 'incoming_payments',
) => sql.fragment`${sql.identifier([table])}
  left join ${ofAuthorization} on a.authorization_id = case when is_authorization then settlement_id end
  ${ofOthers(incoming)}`;

/** Settlements that are authorizations, with the same columns. */
export const authorizationsOnly = sql.fragment`settlements
  join ${ofAuthorization} on a.authorization_id = settlement_id ${ofOthers('incoming_payments')}`;

/** The extensions of an authorization, first to last. Null of another payment. */
const extensionsShown = sql.fragment`case when is_authorization then (
    select coalesce(jsonb_agg(jsonb_build_object('extension_id', added.extension_id,
      'payment_attempt_id', added.payment_attempt_id, 'quote_id', added.quote_id, 'amount', added.amount::text,
      'created_at', extract(epoch from added.created_at) * 1000) order by added.extension_id), '[]'::jsonb)
    from extensions as added (extension_id, extended) where added.extended = settlement_id
  ) end as extensions`;

export const columns = sql.fragment`settlement_id, rail, account_id, payment_attempt_id, delegate_id, wallet_id, quote_id,
  quote_token, scope, vendor_account_id, service_id, quote_amount, fee_amount, status, chain_status, tx_hash,
  superseded_tx_hashes, settlement_token, issued_at, redeem_window_seconds, redeem_expires_at, redeemed_at, redeem_id,
  failure_code, failure_message, units_total, units_consumed, ceiling, used, mode, unit_price, ends_at, at_risk_at,
  voided_at, ${extensionsShown}, of_kind.payer_address, of_kind.source_account, of_kind.service_name, of_kind.payout_address,
  of_kind.payees, of_kind.resource, coalesce(of_kind.accrued_fee, 0) as accrued_fee, created_at,
  coalesce(${windowElapsed}, false) as elapsed, ${isUsable} as usable`;

/** By id, in no scope: for the service's own use, never directly for an answer. */
export const getSettlement = (db: Db, settlementId: string): Promise<SettlementRow> =>
  db.one(sql.type(Row)`select ${columns} from ${withKinds()} where settlement_id = ${settlementId}`);

/** The same for several ids, in their order. */
export const getSettlements = async (
  db: Db,
  settlementIds: readonly string[],
): Promise<readonly SettlementRow[]> => {
  const rows = await db.many(sql.type(Row)`
    select ${columns} from ${withKinds()} where settlement_id = any(${sql.array([...settlementIds], 'text')})`);
  const found = new Map(rows.map((row) => [row.settlement_id, row]));
  return settlementIds.map((id) => found.get(id)!);
};

/** The same for an event of another service, whose settlement may be absent in this database. */
export const findSettlement = (db: Db, settlementId: string): Promise<SettlementRow | null> =>
  db.maybeOne(sql.type(Row)`select ${columns} from ${withKinds()} where settlement_id = ${settlementId}`);

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
  ceiling: true,
});
/** What events have, and what never changes once the amount is decided. */
export type Terms = z.infer<typeof Terms>;

/** The terms of the settlements that this database has, in no order. */
export const listTerms = (db: Db, settlementIds: readonly string[]): Promise<readonly Terms[]> =>
  db.any(sql.type(Terms)`
    select settlement_id, rail, quote_id, scope, account_id, delegate_id, wallet_id, service_id, vendor_account_id,
      quote_amount, fee_amount, redeem_window_seconds, of_kind.payer_address, of_kind.payees, of_kind.resource, created_at, ceiling
    from ${withKinds()} where settlement_id = any(${sql.array([...settlementIds], 'text')})`);

const AttemptRow = Row.extend({
  /** The attempt is an extension of the settlement. Null: it made the settlement. */
  extension_id: z.string().nullable(),
  /** The quote that it pays. */
  attempt_quote_id: z.string().nullable(),
  attempt_quote_token: packedToken.nullable(),
});
export type AttemptRow = z.infer<typeof AttemptRow>;

/** The attempt of a payer's account with its settlement, or null. */
export const findAttempt = (db: Db, accountId: string, attemptId: string): Promise<AttemptRow | null> =>
  db.maybeOne(sql.type(AttemptRow)`
    select ${columns}, added.extension_id, coalesce(added.quote, quote_id) as attempt_quote_id,
      coalesce(added.token, quote_token) as attempt_quote_token
    from ${withKinds()} left join (
      select extension_id, settlement_id as extended, payment_attempt_id as attempt, quote_id as quote, quote_token as token
      from extensions
    ) as added on added.extended = settlement_id and added.attempt = ${attemptId} and is_authorization
    where settlement_id = ${ofAttempt(accountId, attemptId)}`);

/** The account's settlement that pays a quote or has paid it. Null: none, or it failed. */
export const findPayingSettlement = (
  db: Db,
  accountId: string,
  quoteId: string,
): Promise<SettlementRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from ${withKinds()}
    where settlement_id = ${ofQuote(quoteId)} and account_id = ${accountId}`);

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
    select ${columns} from ${withKinds()} where settlement_id = ${settlementId} and ${inScope(scope)}`);

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
  ceiling: true,
  used: true,
  mode: true,
  unit_price: true,
  ends_at: true,
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
      redeem_expires_at, redeemed_at, units_total, units_consumed, ceiling, used, mode, unit_price, ends_at,
      at_risk_at, voided_at, case when is_authorization then quote_token end as quote_token,
      coalesce(${windowElapsed}, false) as elapsed, ${isUsable} as usable
    from jsonb_to_recordset(${JSON.stringify(requests)}::jsonb) as input(settlement_id text, service_id uuid)
    join settlements as s on s.settlement_id = input.settlement_id and s.service_id = input.service_id
    left join ${ofAuthorization} on a.authorization_id = case when s.is_authorization then s.settlement_id end
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
  /** Only with the scope of its payer. */
  payment_attempt_id?: string | undefined;
};

/** A page of the settlements in scope, newest first, and one more row. */
export const listSettlements = (
  db: Db,
  { scope, status, rail, service_id, payment_attempt_id }: SettlementFilter,
  page: Page,
): Promise<readonly SettlementRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from ${withKinds()}
    where ${inScope(scope)} ${matching({ rail, service_id })}
      ${payment_attempt_id === undefined || scope.as === 'service' ? sql.fragment`` : sql.fragment`and settlement_id = ${ofAttempt(scope.account_id, payment_attempt_id)}`}
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
      max(coalesce(ends_at, redeem_expires_at + forked_for)) as ends_at
    from ${withKinds()} where service_id = ${serviceId}`);

const OfQuote = z.object({
  quote_id: z.string(),
  settlement_id: z.string(),
  status: z.enum(statuses.states),
});

/**
 * The settlement of each quote that did not fail and is not void (rule 2: at most one), or else the
 * one of the given id. The quote of an extension has its authorization.
 */
export const listLatestByQuotes = (
  db: Db,
  quotes: readonly { quote_id: string; settlement_id: string | null }[],
): Promise<readonly z.infer<typeof OfQuote>[]> =>
  db.any(sql.type(OfQuote)`
    select quote_id, found.settlement_id, found.status
    from jsonb_to_recordset(${JSON.stringify(quotes)}::jsonb) as input(quote_id text, settlement_id text)
    cross join lateral (
      select settlement_id, status from settlements s where s.settlement_id = ${ofQuote(sql.fragment`input.quote_id`)}
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
    select ${columns} from ${withKinds()}
    where issued_at is not null ${after === null ? sql.fragment`` : sql.fragment`and settlement_id > ${after}`}
    order by settlement_id limit ${limit}`);
