import type { EventPayload } from '../../../shared/contract/events.ts';
import { EVENT_DAYS } from '../../../shared/contract/sent-events.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { newId } from '../../../shared/lib/id.ts';
import { delegateName, insertHandledFrom, insertMailsFrom, KEEP_DAYS, serviceName } from '../mails/store.ts';
import { insertSecurityEventsFrom } from '../security/store.ts';

/** An account that is null has no limits here and gets no mail. */
export type Payment = Omit<EventPayload<'settlement.issued'>, 'scope'>;

/** The details of a payment with its delegate. */
const byWhom = sql.fragment`payment.details || jsonb_strip_nulls(jsonb_build_object(
  'delegate', ${delegateName(sql.fragment`payment.delegate_id`, sql.fragment`payment.account_id`)},
  'delegate_id', payment.delegate_id))`;
/** The details of what one of several payees of a payment gets. */
const itsPart = sql.fragment`jsonb_build_object('pay_to', each ->> 'address', 'amount', each ->> 'amount') ||
  case when jsonb_array_length(payment.payees) = 1 then '{}'
    else jsonb_build_object('total', payment.quote_amount::text, 'payees', jsonb_array_length(payment.payees)::text) end`;
/**
 * Common table expressions after `payment`: whom it pays, the payees that the account had never
 * paid, the first payment to each, and its security event. An account does not hear of what it pays
 * itself.
 */
const firstPayments = sql.fragment`paid as (
    select payment.account_id, vendor_account_id, issued_at, service_id::text as payee, security_event_id,
      ${byWhom} as details
    from payment where service_id is not null
    union all
    select payment.account_id, vendor_account_id, issued_at, each ->> 'address', each ->> 'security_event_id',
      ${byWhom} || ${itsPart}
    from payment cross join jsonb_array_elements(payees) as each where service_id is null
  ), known as (
    insert into known_payees (account_id, payee)
    select distinct account_id, payee from paid join accounts using (account_id)
    where vendor_account_id is distinct from account_id
    order by 1, 2
    on conflict do nothing
    returning account_id, payee
  ), first as (
    select distinct on (account_id, payee) account_id, security_event_id, details
    from paid join known using (account_id, payee)
    order by account_id, payee, issued_at
  ), noted as (${insertSecurityEventsFrom('first_payment', sql.fragment`first`)})`;
/** The mails about the payments: those that the settings ask for, and those of first payments. */
const notices = sql.fragment`
    select 'payment_made' as kind, account_id, ${byWhom} as details
    from payment join accounts using (account_id) where mail_payments
    union all
    select 'payment_received', accounts.account_id, details
    from payment join accounts on accounts.account_id = vendor_account_id where mail_payments
    union all
    select 'first_payment', account_id, details from first
    union all
    select 'spending_alert', account_id, jsonb_build_object('day', day::text, 'spent', spent::text,
      'threshold', alerted_threshold::text)
    from counted where alerts`;

/**
 * Records payments: counts each in its payer's UTC day and queues the mails that the settings ask
 * for. The payer and the vendor get a mail about the payment, and the payer gets an alert when the
 * day's spending passes the threshold. The first payment to a payee is mailed whatever the settings
 * are, and is a security event. Each settlement is recorded once, however often its event is
 * delivered and however many replicas handle it. Payments older than `EVENT_DAYS` are ignored.
 *
 * A payment counts in the day in which it was issued, not in which its event arrives. An alert is
 * queued when the spending is above the threshold and no alert for the same or a greater threshold
 * was queued on that day. After an alert, a raised threshold alerts again when it is passed, and a
 * lowered one does not. All of it is one statement. Its update locks the row of the day, so of
 * concurrent statements each one adds to the sum of the one before. Payments of one batch are added
 * up first.
 * @returns the number of mails
 */
export const recordPayments = async (db: Db, payments: readonly Payment[]): Promise<number> => {
  const withEventId = <T extends object>(each: T) => ({ ...each, security_event_id: newId('sev') });
  const rows = payments.map((each) => ({ ...withEventId(each), payees: each.payees?.map(withEventId) }));
  const threshold = sql.fragment`(select spending_alert_threshold from accounts where account_id = excluded.account_id)`;
  // Every insert uses one order, so that two statements that write the same rows cannot deadlock.
  const { rowCount } = await db.query(sql.typeAlias('void')`
    with received as (
      select distinct on (settlement_id) *, settlement_id as event_key,
        issued_at::timestamptz + ${KEEP_DAYS} * interval '1 day' as expires_at
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as input(
        settlement_id text, account_id text, delegate_id text, service_id uuid, vendor_account_id text,
        payees jsonb, security_event_id text, quote_amount bigint, fee_amount bigint, issued_at text)
      where issued_at::timestamptz > app_now() - ${EVENT_DAYS} * interval '1 day'
      order by settlement_id
    ), inserted as (${insertHandledFrom(sql.fragment`received`)}
    ), payment as (
      select received.*, jsonb_strip_nulls(jsonb_build_object('settlement_id', settlement_id, 'service_id', service_id,
        'service', ${serviceName(sql.fragment`received.service_id`)}, 'at', issued_at,
        'amount', quote_amount::text, 'fee', fee_amount::text, 'net', (quote_amount - fee_amount)::text)) as details
      from received join inserted using (event_key)
    ), ${firstPayments}, spent as (
      select account_id, (issued_at::timestamptz at time zone 'utc')::date as day, sum(quote_amount)::bigint as spent
      from payment group by 1, 2
    ), counted as (
      insert into spending_days as day (account_id, day, spent, alerted_threshold)
      select account_id, day, spent, case when spent > spending_alert_threshold then spending_alert_threshold end
      from spent join accounts using (account_id) order by account_id, day
      on conflict (account_id, day) do update set spent = day.spent + excluded.spent,
        alerted_threshold = greatest(day.alerted_threshold,
          case when day.spent + excluded.spent > ${threshold} then ${threshold} end)
      returning new.account_id, new.day, new.spent, new.alerted_threshold,
        new.alerted_threshold is distinct from old.alerted_threshold as alerts
    ), notices as (select *, null as link_id, null::timestamptz as expires_at from (${notices}) as each)
    ${insertMailsFrom(sql.fragment`notices`)}`);
  return rowCount;
};

/** Deletes the days that no event can change any more. */
export const purgeSpendingDays = async (db: Db): Promise<void> => {
  await db.query(sql.typeAlias('void')`
    delete from spending_days where day < (app_now() at time zone 'utc')::date - ${KEEP_DAYS}::int`);
};

/** Deletes whom an account has paid. */
export const deleteKnownPayeesOf = (tx: Db, accountId: string): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`delete from known_payees where account_id = ${accountId}`);
