import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { NOTICE_DAYS } from './mails.ts';

export type Payment = {
  settlement_id: string;
  account_id: string;
  delegate_id: string | null;
  service_id: string;
  vendor_account_id: string;
  quoteMicro: bigint;
  feeMicro: bigint;
  /** By the database's clock, as the wire has it. */
  issued_at: string;
};

/**
 * Counts a payment in its payer's UTC day and puts the mails that the settings ask for in the queue: to the payer and
 * to the vendor, and an alert when the day's spending passes the payer's threshold. Once for each settlement, however
 * often its fact comes and however many come at once; what is older than a mail is worth is nobody's news.
 *
 * A payment counts in the day in which it was issued, whenever its fact arrives. Alerted is when more than the
 * threshold was spent and no greater or equal threshold was alerted that day: a raised one alerts again once it is
 * passed, a lowered one only where nothing was said yet, and setting it to and fro repeats nothing. One statement: the
 * day's row is locked by its update, so of many payments at once each sees the sum with the one before.
 * @returns how many mails
 */
export const notePayment = async (db: Db, payment: Payment): Promise<number> => {
  const { account_id, delegate_id, service_id, quoteMicro, issued_at } = payment;
  const threshold = sql.fragment`(select spending_alert_threshold from payer)`;
  const passes = sql.fragment`(day.spent + excluded.spent > ${threshold}
    and coalesce(day.alerted_threshold, 0) < ${threshold})`;
  const words = {
    settlement_id: payment.settlement_id,
    service_id,
    amount: `${quoteMicro}`,
    fee: `${payment.feeMicro}`,
    net: `${quoteMicro - payment.feeMicro}`,
    at: issued_at,
  };
  const { rowCount } = await db.query(sql.type(z.object({}))`
    with heard as (
      insert into payments (settlement_id, issued_at)
      select ${payment.settlement_id}, ${issued_at}::timestamptz
      where ${issued_at}::timestamptz > app_now() - ${NOTICE_DAYS} * interval '1 day'
      on conflict do nothing
      returning issued_at
    ), payer as (
      select account_id, email, mail_payments, spending_alert_threshold, issued_at
      from heard, accounts where account_id = ${account_id}
    ), counted as (
      insert into spending_days as day (account_id, day, spent, alerted_at, alerted_threshold)
      select account_id, (issued_at at time zone 'utc')::date, ${quoteMicro},
        case when ${quoteMicro} > spending_alert_threshold then app_now() end,
        case when ${quoteMicro} > spending_alert_threshold then spending_alert_threshold end
      from payer
      on conflict (account_id, day) do update set
        spent = day.spent + excluded.spent,
        alerted_at = case when ${passes} then app_now() else day.alerted_at end,
        alerted_threshold = case when ${passes} then ${threshold} else day.alerted_threshold end
      returning new.day, new.spent, new.alerted_threshold,
        new.alerted_threshold is distinct from old.alerted_threshold as alerts
    ), named as (
      select ${JSON.stringify(words)}::jsonb || jsonb_strip_nulls(jsonb_build_object(
        'service', (select name from services where service_id = ${service_id}::uuid))) as words
    ), told as (
      select 'payment_made' as kind, email, words || jsonb_strip_nulls(jsonb_build_object(
        'delegate', (select name from delegates where delegate_id = ${delegate_id} and account_id = ${account_id}),
        'delegate_id', ${delegate_id}::text)) as details
      from payer, named where mail_payments
      union all
      select 'payment_received', email, words
      from heard, named, accounts where account_id = ${payment.vendor_account_id} and mail_payments
      union all
      select 'spending_alert', email, jsonb_build_object('day', day::text, 'spent', spent::text,
        'threshold', alerted_threshold::text)
      from payer, counted where alerts
    )
    insert into mails (kind, to_address, details, expires_at)
    select kind, email, details, app_now() + ${NOTICE_DAYS} * interval '1 day' from told`);
  return rowCount;
};

/** A day longer than a fact is taken, so that no repeat is taken for the first. */
const KEEP_DAYS = NOTICE_DAYS + 1;

/** Removes what no fact can change any more. */
export const purgePayments = async (db: Db): Promise<void> => {
  await db.query(sql.typeAlias('void')`
    delete from payments where issued_at <= app_now() - ${KEEP_DAYS} * interval '1 day'`);
  await db.query(sql.typeAlias('void')`
    delete from spending_days where day < (app_now() at time zone 'utc')::date - ${KEEP_DAYS}::int`);
};
