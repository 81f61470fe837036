import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { newId } from '../../../shared/lib/id.ts';
import { insertNoticesFrom, NOTICE_DAYS } from '../mails/store.ts';
import { insertSecurityEventsFrom } from '../security/store.ts';

export type Payment = {
  settlement_id: string;
  /** Null: a payer of another protocol, who has no limits and gets no mail. */
  account_id: string | null;
  delegate_id: string | null;
  /** Null: an outgoing payment, whose vendor has no account here. */
  service_id: string | null;
  vendor_account_id: string | null;
  /** The address that an outgoing payment pays. */
  pay_to: string | null;
  quoteMicro: bigint;
  feeMicro: bigint;
  /** By the database's clock, in the form of the wire. */
  issued_at: string;
};

/** Whom a payment of CTE `payment` pays. */
const payee = sql.fragment`coalesce(payment.service_id::text, payment.pay_to)`;
/** The details of a payment with its delegate. */
const byWhom = sql.fragment`payment.details || jsonb_strip_nulls(jsonb_build_object(
  'delegate', (select name from delegates
    where delegates.delegate_id = payment.delegate_id and delegates.account_id = payment.account_id),
  'delegate_id', payment.delegate_id))`;
/**
 * Common table expressions after `payment`: the payees that the account had never paid, the first
 * payment to each, and its security event. An account does not hear of what it pays itself.
 */
const firstPayments = sql.fragment`known as (
    insert into known_payees (account_id, payee, first_paid_at)
    select account_id, ${payee}, min(issued_at::timestamptz) from payment join accounts using (account_id)
    where ${payee} is not null and vendor_account_id is distinct from account_id
    group by 1, 2 order by 1, 2
    on conflict do nothing
    returning account_id, payee
  ), first as (
    select distinct on (account_id, payee) payment.account_id, security_event_id, ${byWhom} as details
    from payment join known on known.account_id = payment.account_id and known.payee = ${payee}
    order by account_id, payee, issued_at
  ), noted as (${insertSecurityEventsFrom('first_payment', sql.fragment`first`)})`;

/**
 * Records payments: counts each in its payer's UTC day and queues the mails that the settings ask
 * for. The payer and the vendor get a mail about the payment, and the payer gets an alert when the
 * day's spending passes the threshold. The first payment to a payee is mailed whatever the settings
 * are, and is a security event. Each settlement is recorded once, however often its event is
 * delivered and however many replicas handle it. Payments older than `NOTICE_DAYS` are ignored.
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
  const rows = payments.map(({ quoteMicro, feeMicro, ...payment }) => ({
    ...payment,
    security_event_id: newId('sev'),
    amount: `${quoteMicro}`,
    fee: `${feeMicro}`,
    net: `${quoteMicro - feeMicro}`,
  }));
  const threshold = sql.fragment`(select spending_alert_threshold from accounts where account_id = excluded.account_id)`;
  const passes = sql.fragment`(day.spent + excluded.spent > ${threshold}
    and coalesce(day.alerted_threshold, 0) < ${threshold})`;
  // Every insert uses one order, so that two statements that write the same rows cannot deadlock.
  const { rowCount } = await db.query(sql.type(z.object({}))`
    with received as (
      select distinct on (settlement_id) * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as input(
        settlement_id text, account_id text, delegate_id text, service_id uuid, vendor_account_id text,
        pay_to text, security_event_id text, amount bigint, fee text, net text, issued_at text)
      where issued_at::timestamptz > app_now() - ${NOTICE_DAYS} * interval '1 day'
      order by settlement_id
    ), inserted as (
      insert into payments (settlement_id, issued_at) select settlement_id, issued_at::timestamptz from received
      on conflict do nothing
      returning settlement_id
    ), payment as (
      select received.*, jsonb_strip_nulls(jsonb_build_object('settlement_id', settlement_id, 'service_id', service_id,
        'pay_to', pay_to, 'amount', amount::text, 'fee', fee, 'net', net, 'at', issued_at,
        'service', (select name from services where services.service_id = received.service_id))) as details
      from received join inserted using (settlement_id)
    ), ${firstPayments}, spent as (
      select account_id, (issued_at::timestamptz at time zone 'utc')::date as day, sum(amount)::bigint as spent
      from payment group by 1, 2
    ), counted as (
      insert into spending_days as day (account_id, day, spent, alerted_at, alerted_threshold)
      select account_id, day, spent,
        case when spent > spending_alert_threshold then app_now() end,
        case when spent > spending_alert_threshold then spending_alert_threshold end
      from spent join accounts using (account_id) order by account_id, day
      on conflict (account_id, day) do update set
        spent = day.spent + excluded.spent,
        alerted_at = case when ${passes} then app_now() else day.alerted_at end,
        alerted_threshold = case when ${passes} then ${threshold} else day.alerted_threshold end
      returning new.account_id, new.day, new.spent, new.alerted_threshold,
        new.alerted_threshold is distinct from old.alerted_threshold as alerts
    ), notices as (
      select 'payment_made' as kind, email, ${byWhom} as details
      from payment join accounts using (account_id) where mail_payments and closed_at is null
      union all
      select 'first_payment', email, details from first join accounts using (account_id) where closed_at is null
      union all
      select 'payment_received', email, details
      from payment join accounts on accounts.account_id = vendor_account_id
      where mail_payments and closed_at is null
      union all
      select 'spending_alert', email, jsonb_build_object('day', day::text, 'spent', spent::text,
        'threshold', alerted_threshold::text)
      from counted join accounts using (account_id) where alerts and closed_at is null
    )
    ${insertNoticesFrom(sql.fragment`notices`)}`);
  return rowCount;
};

/** A day longer than an event is recorded, so that no repeated event counts as a new one. */
const PURGE_AFTER_DAYS = NOTICE_DAYS + 1;

/** Deletes payments and days that no event can change any more. */
export const purgePayments = async (db: Db): Promise<void> => {
  await db.query(sql.typeAlias('void')`
    delete from payments where issued_at <= app_now() - ${PURGE_AFTER_DAYS} * interval '1 day'`);
  await db.query(sql.typeAlias('void')`
    delete from spending_days where day < (app_now() at time zone 'utc')::date - ${PURGE_AFTER_DAYS}::int`);
};

/** Deletes whom an account has paid. */
export const deleteKnownPayeesOf = (tx: Db, accountId: string): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`delete from known_payees where account_id = ${accountId}`);
