import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { NOTICE_DAYS } from '../mails/store.ts';

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
 * Counts payments, each in its payer's UTC day, and puts the mails that the settings ask for in the queue: to the payer and
 * to the vendor, and an alert when the day's spending passes the payer's threshold. Once for each settlement, however
 * often its fact comes and however many come at once; what is older than a mail is worth is nobody's news.
 *
 * A payment counts in the day in which it was issued, whenever its fact arrives. Alerted is when more than the
 * threshold was spent and no greater or equal threshold was alerted that day: a raised one alerts again once it is
 * passed, a lowered one only where nothing was said yet, and setting it to and fro repeats nothing. One statement: the
 * day's row is locked by its update, so of many at once each sees the sum with the one before; what comes together is
 * added up first.
 * @returns how many mails
 */
export const notePayments = async (db: Db, payments: readonly Payment[]): Promise<number> => {
  const rows = payments.map(({ quoteMicro, feeMicro, ...payment }) => ({
    ...payment,
    amount: `${quoteMicro}`,
    fee: `${feeMicro}`,
    net: `${quoteMicro - feeMicro}`,
  }));
  const threshold = sql.fragment`(select spending_alert_threshold from accounts where account_id = excluded.account_id)`;
  const passes = sql.fragment`(day.spent + excluded.spent > ${threshold}
    and coalesce(day.alerted_threshold, 0) < ${threshold})`;
  // Every insert in one order, so that two that write the same rows never wait for one another in a ring.
  const { rowCount } = await db.query(sql.type(z.object({}))`
    with fresh as (
      select distinct on (settlement_id) * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as told(
        settlement_id text, account_id text, delegate_id text, service_id uuid, vendor_account_id text,
        amount bigint, fee text, net text, issued_at text)
      where issued_at::timestamptz > app_now() - ${NOTICE_DAYS} * interval '1 day'
      order by settlement_id
    ), heard as (
      insert into payments (settlement_id, issued_at) select settlement_id, issued_at::timestamptz from fresh
      on conflict do nothing
      returning settlement_id
    ), payment as (
      select fresh.*, jsonb_strip_nulls(jsonb_build_object('settlement_id', settlement_id, 'service_id', service_id,
        'amount', amount::text, 'fee', fee, 'net', net, 'at', issued_at,
        'service', (select name from services where services.service_id = fresh.service_id))) as words
      from fresh join heard using (settlement_id)
    ), spent as (
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
    ), told as (
      select 'payment_made' as kind, email, words || jsonb_strip_nulls(jsonb_build_object(
        'delegate', (select name from delegates
          where delegates.delegate_id = payment.delegate_id and delegates.account_id = payment.account_id),
        'delegate_id', delegate_id)) as details
      from payment join accounts using (account_id) where mail_payments
      union all
      select 'payment_received', email, words
      from payment join accounts on accounts.account_id = vendor_account_id where mail_payments
      union all
      select 'spending_alert', email, jsonb_build_object('day', day::text, 'spent', spent::text,
        'threshold', alerted_threshold::text)
      from counted join accounts using (account_id) where alerts
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
