import { z } from 'zod';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import type { Message } from '../../../shared/events/event.ts';
import { insertedColumn, insertedRows, type OutboxRow, outboxValues } from '../../../shared/events/outbox.ts';
import { prepaidUnits } from '../domain/consume.ts';
import { holdDelegates, lockedDelegates } from './delegates.ts';

export type Attempt = {
  settlementId: string;
  accountId: string;
  paymentAttemptId: string;
  delegateId: string | null;
  walletId: string;
  quoteToken: string;
  claims: QuoteClaims;
  /** The chain shows its payment, whose record is lost: neither expiry nor limits nor balance matter any more. */
  isPaid?: boolean;
};

/** What judges an attempt, in rank order. */
const VERDICTS = [
  'accepted',
  /** The attempt is known: whatever else is wrong now, its repeat is answered from its row (rule 3). */
  'known',
  'quote_taken',
  'quote_expired',
  /** This database has no caps of the delegate: none is not the same as unlimited. */
  'delegate_unknown',
  'service_not_allowed',
  'over_per_payment',
  'over_daily',
  'over_monthly',
  'over_total',
  'payer_unknown',
  'balance_short',
  'allowance_short',
  /** Nothing else is wrong with it (capped.ts). */
  'over_hourly_cap',
  /** Another transaction took the attempt id or the quote while this one ran: ask again. */
  'raced',
] as const;
export type Verdict = (typeof VERDICTS)[number];

/** What a statement says of each: `crowded` is no verdict, only that others of the statement came first. */
const Judged = z.object({
  settlement_id: z.string(),
  verdict: z.enum([...VERDICTS, 'crowded']),
  outbox: insertedColumn,
});

/** An attempt, what its acceptance tells, and whether an hourly cap keeps it from being accepted. */
export type Offer = { attempt: Attempt; messages: readonly Message[]; isOverCap?: boolean };
export type Accepted = { verdict: Verdict; outbox: OutboxRow[] };

/**
 * Accepts attempts, all by one statement unless they crowd each other out: then those left are judged anew by what the
 * others have taken. The first of a statement is never crowded, so this ends. Of several for one quote, or with one attempt
 * id, one is accepted and the others have `raced` it.
 * @returns the verdicts in their order
 */
export const acceptAttempts = async (db: Db, offers: readonly Offer[]): Promise<Accepted[]> => {
  const judged = new Map<string, Accepted>();
  for (let left = offers; left.length > 0; ) {
    const rows = new Map((await judge(db, left)).map((row) => [row.settlement_id, row]));
    const crowded: Offer[] = [];
    for (const offer of left) {
      const { verdict, outbox } = rows.get(offer.attempt.settlementId)!;
      if (verdict === 'crowded') crowded.push(offer);
      // Of its own messages: another offer of the same attempt has the same message ids.
      else judged.set(offer.attempt.settlementId, { verdict, outbox: insertedRows(offer.messages, outbox) });
    }
    if (crowded.length === left.length) throw new TypeError('a statement that judged nothing');
    left = crowded;
  }
  return offers.map(({ attempt }) => judged.get(attempt.settlementId)!);
};

/**
 * Judges attempts in one statement, so one round trip and one commit: checks in rank order, then for each that is
 * accepted attempt, wallet hold, settlement row and outbox rows together, or nothing of it (rules 1 to 6).
 *
 * Delegates' and payers' rows are locked first, in the order of their ids and the delegates before the payers, as every
 * statement does that locks both; so holds are taken from their newest versions. Rows are found one by one and by arrays,
 * which go by an index whatever the planner believes of the size of a JSON parameter (joined to it, the settlements were
 * read through from end to end). `known` and `quote_taken` are seen with
 * the statement's snapshot, so the unique indexes have the last word and a lost race says `raced`.
 * The hold: gross ≤ min(balance, allowance) − held on the last known chain state; of a delegate gross ≤ cap − held −
 * spent for each of its caps.
 *
 * Each attempt is judged as if it were alone: whatever is refused then is refused rightly, as the first of all. Those of
 * one wallet or delegate that could be accepted alone take their amounts one after another; one that comes too late for
 * that is `crowded`, since an earlier one may not be accepted after all (its amount, or its quote, may fail it elsewhere).
 */
const judge = (db: Db, offers: readonly Offer[]): Promise<readonly z.infer<typeof Judged>[]> => {
  const messages = offers.flatMap((offer) => offer.messages);
  const given = offers.map(({ attempt: { claims, ...attempt }, isOverCap = false }, ord) => ({
    ord,
    settlement_id: attempt.settlementId,
    account_id: attempt.accountId,
    payment_attempt_id: attempt.paymentAttemptId,
    delegate_id: attempt.delegateId,
    wallet_id: attempt.walletId,
    quote_id: claims.quote_id,
    quote_token: attempt.quoteToken,
    vendor_account_id: claims.vendor_account_id,
    service_id: claims.service_id,
    quote_amount: claims.quote_amount,
    fee_amount: claims.fee_amount,
    redeem_window_seconds: claims.redeem_window_seconds,
    units_total: prepaidUnits(claims.scope),
    expires_at: claims.expires_at,
    is_paid: attempt.isPaid ?? false,
    is_over_cap: isOverCap,
  }));
  return db.any(sql.type(Judged)`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as given(ord integer, settlement_id text,
        account_id text, payment_attempt_id text, delegate_id text, wallet_id text, quote_id text, quote_token text,
        vendor_account_id text, service_id uuid, quote_amount bigint, fee_amount bigint,
        redeem_window_seconds integer, units_total integer, expires_at timestamptz, is_paid boolean, is_over_cap boolean)
    ), asked as (
      select given.*, known.found as is_known, taken.found as is_taken from given
      left join lateral (
        select true as found from settlements as s
        where s.account_id = given.account_id and s.payment_attempt_id = given.payment_attempt_id limit 1
      ) as known on true
      left join lateral (
        select true as found from settlements as s where s.quote_id = given.quote_id and s.status <> 'failed' limit 1
      ) as taken on true
    ), delegate as (${lockedDelegates}), payer as (
      select p.wallet_id, p.balance - p.held as balance_left, p.allowance - p.held as allowance_left
      from payers as p
      where p.wallet_id = any(array(select wallet_id from asked where is_known is null))
        and (select count(*) from delegate) >= 0
      order by p.wallet_id for update of p
    ), judged as (
      select asked.*, payer.balance_left, payer.allowance_left, delegate.day as delegate_day, delegate.daily_left,
        delegate.monthly_left, delegate.total_left,
        case
          when is_known then 'known'
          when is_taken then 'quote_taken'
          when asked.is_paid then case when payer.wallet_id is null then 'payer_unknown' else 'accepted' end
          when asked.expires_at <= app_now() then 'quote_expired'
          when asked.delegate_id is not null and delegate.delegate_id is null then 'delegate_unknown'
          when not asked.service_id = any(delegate.allowed_service_ids) then 'service_not_allowed'
          when delegate.per_payment < asked.quote_amount then 'over_per_payment'
          when delegate.daily_left < asked.quote_amount then 'over_daily'
          when delegate.monthly_left < asked.quote_amount then 'over_monthly'
          when delegate.total_left < asked.quote_amount then 'over_total'
          when payer.wallet_id is null then 'payer_unknown'
          when payer.balance_left < asked.quote_amount then 'balance_short'
          when payer.allowance_left < asked.quote_amount then 'allowance_short'
          when asked.is_over_cap then 'over_hourly_cap'
          else 'accepted'
        end as alone
      from asked
      left join payer on payer.wallet_id = asked.wallet_id
      left join delegate on delegate.delegate_id = asked.delegate_id and delegate.account_id = asked.account_id
    ), queued as (
      select judged.*,
        sum(quote_amount) over (partition by wallet_id, alone order by ord) as of_wallet,
        sum(quote_amount) over (partition by delegate_id, alone order by ord) as of_delegate
      from judged
    ), decided as (
      select queued.*,
        case
          when alone <> 'accepted' or is_paid then alone
          when least(balance_left, allowance_left) < of_wallet then 'crowded'
          when least(daily_left, monthly_left, total_left) < of_delegate then 'crowded'
          else 'accepted'
        end as verdict
      from queued
    ), inserted as (
      insert into settlements (settlement_id, account_id, payment_attempt_id, delegate_id, wallet_id, quote_id,
        quote_token, vendor_account_id, service_id, quote_amount, fee_amount, redeem_window_seconds, units_total,
        delegate_day)
      select settlement_id, account_id, payment_attempt_id, delegate_id, wallet_id, quote_id, quote_token,
        vendor_account_id, service_id, quote_amount, fee_amount, redeem_window_seconds, units_total, delegate_day
      from decided where verdict = 'accepted'
      order by quote_id
      on conflict do nothing
      returning settlement_id, wallet_id, delegate_id, quote_amount
    ), hold as (
      update payers set held = payers.held + taken_now.amount
      from (select wallet_id, sum(quote_amount)::bigint as amount from inserted group by wallet_id) as taken_now
      where payers.wallet_id = taken_now.wallet_id
    ), delegate_hold as (${holdDelegates}), sent as (
      insert into outbox (subject, msg_id, payload, traceparent)
      select message.* from ${outboxValues(messages)}
      join inserted on inserted.settlement_id = message.payload ->> 'settlement_id'
      returning outbox_id, msg_id, payload ->> 'settlement_id' as settlement_id
    ), told as (
      select settlement_id, jsonb_agg(jsonb_build_object('outbox_id', outbox_id, 'msg_id', msg_id)) as outbox
      from sent group by settlement_id
    )
    select decided.settlement_id, coalesce(told.outbox, '[]'::jsonb) as outbox,
      case when decided.verdict = 'accepted' and inserted.settlement_id is null then 'raced' else decided.verdict end as verdict
    from decided
    left join inserted on inserted.settlement_id = decided.settlement_id
    left join told on told.settlement_id = decided.settlement_id`);
};
