import { z } from 'zod';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import { type OutboxRow, type Outgoing, outboxColumn, outboxValues } from '../../../shared/db/outbox.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { prepaidUnits } from '../domain/consume.ts';
import { holdDelegate, lockedDelegate } from './delegates.ts';

export type Attempt = {
  settlementId: string;
  accountId: string;
  paymentAttemptId: string;
  delegateId: string | null;
  walletId: string;
  quoteToken: string;
  claims: QuoteClaims;
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
  /** Another transaction took the attempt id or the quote while this one ran: ask again. */
  'raced',
] as const;
export type Verdict = (typeof VERDICTS)[number];

const Accepted = z.object({
  verdict: z.enum(VERDICTS),
  outbox: outboxColumn,
});

/**
 * Accepts an attempt in one statement, so one round trip and one commit: checks in rank order, then attempt,
 * wallet hold, settlement row and outbox rows together, or nothing (rules 1 to 6).
 *
 * The payer's row is locked first, so the hold is taken from its newest version; `known` and `quote_taken` are
 * seen with the statement's snapshot, so the unique indexes have the last word and a lost race says `raced`.
 * The hold: gross ≤ min(balance, allowance) − held on the last known chain state; of a delegate gross ≤ cap − held −
 * spent for each of its caps. Every statement that locks both locks the delegate first, then the payer.
 */
export const acceptAttempt = async (
  db: Db,
  attempt: Attempt,
  messages: readonly Outgoing[],
): Promise<{ verdict: Verdict; outbox: OutboxRow[] }> => {
  const { claims } = attempt;
  const gross = BigInt(claims.quote_amount);
  const spending = delegateParts(attempt, gross);
  return db.one(sql.type(Accepted)`
    with known as (
      select from settlements
      where account_id = ${attempt.accountId} and payment_attempt_id = ${attempt.paymentAttemptId}
    ), taken as (
      select from settlements where quote_id = ${claims.quote_id} and status <> 'failed'
    ), payer as (
      select balance, allowance, held from payers
      where wallet_id = ${attempt.walletId} and not exists (select from known)
      for update
    )${spending.locked}, judged as (
      select case
        when exists (select from known) then 'known'
        when exists (select from taken) then 'quote_taken'
        when ${claims.expires_at}::timestamptz <= app_now() then 'quote_expired'
        ${spending.judged}
        when not exists (select from payer) then 'payer_unknown'
        when (select balance - held from payer) < ${gross} then 'balance_short'
        when (select allowance - held from payer) < ${gross} then 'allowance_short'
        else 'accepted'
      end as verdict
    ), inserted as (
      insert into settlements (settlement_id, account_id, payment_attempt_id, delegate_id, wallet_id, quote_id,
        quote_token, vendor_account_id, service_id, quote_amount, fee_amount, redeem_window_seconds,
        units_total${spending.column})
      select ${attempt.settlementId}, ${attempt.accountId}, ${attempt.paymentAttemptId}, ${attempt.delegateId},
        ${attempt.walletId}, ${claims.quote_id}, ${attempt.quoteToken}, ${claims.vendor_account_id},
        ${claims.service_id}::uuid, ${gross}, ${BigInt(claims.fee_amount)}, ${claims.redeem_window_seconds}::int,
        ${prepaidUnits(claims.scope)}::int${spending.value}
      from judged where verdict = 'accepted'
      on conflict do nothing
      returning settlement_id
    ), hold as (
      update payers set held = held + ${gross}
      where wallet_id = ${attempt.walletId} and exists (select from inserted)
    )${spending.hold}, sent as (
      insert into outbox (subject, msg_id, payload, traceparent)
      select message.* from ${outboxValues(messages)} where exists (select from inserted)
      returning outbox_id, subject, msg_id, payload, traceparent
    )
    select
      case when judged.verdict = 'accepted' and not exists (select from inserted) then 'raced' else judged.verdict end as verdict,
      coalesce((select jsonb_agg(to_jsonb(sent)) from sent), '[]'::jsonb) as outbox
    from judged`);
};

const nothing = sql.fragment``;

/** What a delegate's key adds to the statement. */
const delegateParts = ({ accountId, delegateId, claims }: Attempt, gross: bigint) => {
  if (delegateId === null) {
    return { locked: nothing, judged: nothing, column: nothing, value: nothing, hold: nothing };
  }
  return {
    locked: sql.fragment`, delegate as (${lockedDelegate(accountId, delegateId)})`,
    judged: sql.fragment`
        when not exists (select from delegate) then 'delegate_unknown'
        when (select not ${claims.service_id}::uuid = any(allowed_service_ids) from delegate) then 'service_not_allowed'
        when (select per_payment from delegate) < ${gross} then 'over_per_payment'
        when (select daily - day_used from delegate) < ${gross} then 'over_daily'
        when (select monthly - month_used from delegate) < ${gross} then 'over_monthly'
        when (select total - total_used from delegate) < ${gross} then 'over_total'`,
    column: sql.fragment`, delegate_day`,
    value: sql.fragment`, (select day from delegate)`,
    hold: sql.fragment`, delegate_hold as (${holdDelegate(delegateId, gross)})`,
  };
};
