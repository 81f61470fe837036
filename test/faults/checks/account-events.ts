import { waitFor } from '../../support/base/wait.ts';
import type { Access } from '../access.ts';
import { ADDED_EVENT_TYPE } from '../versions/edits.ts';

/** Longer than the pause between two comparisons of webhook with the stream (shared/boot.ts). */
const ARRIVE_WITHIN_MS = 120_000;

/** Of a settlement `s`: an event, whether its record says that it happened, or that it may have. */
const OF_PAYMENTS = `
  ('settlement.issued', issued_at is not null, false),
  ('settlement.finalized', chain_status = 'finalized', false),
  ('settlement.failed', status = 'failed', false),
  ('settlement.reversed', chain_status = 'failed' and issued_at is not null, false),
  -- A payment of x402 whose success was reissued may never be redeemed again.
  ('settlement.redeemed', status = 'redeemed', s.account_id is null and status = 'issued'),
  -- A fork may end a payment after its window.
  ('settlement.expired', status = 'expired', status = 'failed' and issued_at is not null),
  ('settlement.voided', status = 'voided', false),
  ('settlement.authorized', is_authorization, false),
  ('settlement.captured', is_authorization and issued_at is not null, false)`;

/** The same of what a vendor hears of its quote. A payment that takes long is also announced. */
const OF_QUOTES = `
  ('quote.settled', issued_at is not null, false),
  ('quote.settling', issued_at is not null or status = 'failed', true)`;

/**
 * The events of accounts, by the records of the services that publish them, a statement for each:
 * `nth` distinguishes those of one type and object. An event that may have happened since then was
 * overtaken.
 */
const RECORDED = [
  `
  select party.account_id, event.type, settlement_id as object_id, 1 as nth, event.is_due, event.may_be
  from settlement.settlements s
  cross join lateral (values (s.account_id), (s.vendor_account_id)) as party(account_id)
  cross join lateral (values ${OF_PAYMENTS}) as event(type, is_due, may_be)
  union all
  select vendor_account_id, event.type, quote_id, row_number() over (partition by quote_id, event.type), event.is_due, event.may_be
  from settlement.settlements s cross join lateral (values ${OF_QUOTES}) as event(type, is_due, may_be)
  where quote_id is not null and (event.is_due or event.may_be)
  union all
  select party.account_id, 'settlement.extended', settlement_id, row_number() over (partition by settlement_id, party.role), true, false
  from settlement.extensions e join settlement.settlements s using (settlement_id)
  cross join lateral (values (0, s.account_id), (1, s.vendor_account_id)) as party(role, account_id)
  union all
  select party.account_id, 'settlement.at_risk', settlement_id, 1, at_risk_at is not null, false
  from settlement.authorizations a cross join lateral (values (account_id), (vendor_account_id)) as party(account_id)
  union all
  select party.account_id, 'settlement.declined', decline_id, 1, true, false
  from settlement.declines d cross join lateral (values (account_id), (vendor_account_id)) as party(account_id)
  union all
  select d.account_id, 'delegate.exhausted', delegate_id, row_number() over (partition by delegate_id), true, false
  from settlement.exhausted_limits join settlement.declines d using (decline_id, delegate_id)
  union all
  select account_id, 'approval.requested', approval_id, 1, true, false from settlement.approvals
  union all
  -- One that was approved may be denied afterwards.
  select account_id, 'approval.decided', approval_id, nth, approved is not null and nth = 1, approved is false
  from settlement.approvals cross join generate_series(1, 2) as nth`,
  `
  select account_id, 'quote.expired', quote_id, 1, query_at is null, false
  from quote.quotes where payment_link_id is null and settlement_state is distinct from 3
  union all
  select q.account_id, 'payment_link.paid', payment_link_id, row_number() over (partition by payment_link_id), true, false
  from quote.quotes q where payment_link_id is not null and settlement_state = 3`,
  `
  select party.account_id, 'refund.' || event.status, refund_id, nth, r.status = event.status and nth = 1, r.status not in ('new', 'void')
  from funding.refunds r
  -- An account that refunds itself gets one event. After a fork it is submitted and confirmed again.
  cross join lateral (select vendor_account_id union select payer_account_id) as party(account_id)
  cross join unnest(array['submitted', 'confirmed', 'finalized', 'failed', 'cancelled', 'expired']) as event(status)
  cross join generate_series(1, case when event.status in ('submitted', 'confirmed') then generation + 1 else 1 end) as nth
  where event.status in (r.status, 'submitted', 'confirmed')
  union all
  select account_id, 'withdrawal.' || event.status, withdrawal_id, nth, w.status = event.status and nth = 1, true
  from funding.withdrawals w
  cross join unnest(array['submitted', 'confirmed', 'finalized', 'failed', 'cancelled', 'expired']) as event(status)
  cross join generate_series(1, case when event.status in ('submitted', 'confirmed') then generation + 1 else 1 end) as nth
  where event.status in (w.status, 'submitted', 'confirmed')
  union all
  select account_id, 'deposit.' || event.status, deposit_id, 1, d.status = event.status, d.status <> 'created'
  from funding.deposits d
  cross join unnest(array['awaiting_payment', 'processing', 'settling', 'completed', 'failed', 'cancelled', 'expired']) as event(status)`,
  `
  select account_id, 'delegate.created', delegate_id, 1, true, false from identity.delegates
  union all
  select account_id, 'delegate.deleted', delegate_id, 1, deleted_at is not null, false from identity.delegates`,
];

/**
 * Types that leave nothing in the records that would count them: changes of keys and delegates,
 * which are overwritten, tests, and what only a later version has.
 */
const UNCOUNTED = [
  ADDED_EVENT_TYPE,
  'delegate.updated',
  'key.rotated',
  'key.revealed',
  'key.ended',
  'webhook.test',
];

/** The events that accounts have (`GET /v1/events`), numbered like those of the records. */
const SHOWN = `
  select account_id, type, object_id, row_number() over (partition by account_id, type, object_id order by event_id) as nth
  from (
    select account_id, type, object_id, event_id from webhook.events
    union all
    select other_account_id, type, object_id, event_id from webhook.events where other_account_id is not null
  ) as event`;

/**
 * Compares with recorded events, in the database of webhook. It renumbers what an account gets
 * twice: as payer and as vendor, or for two quotes.
 */
const COMPARED = `
  with recorded as (
    select account_id, type, object_id, is_due, may_be,
      row_number() over (partition by account_id, type, object_id order by is_due desc, nth) as nth
    from jsonb_to_recordset($2::jsonb)
      as record(account_id text, type text, object_id text, nth integer, is_due boolean, may_be boolean)
  ), shown as (${SHOWN})
  select coalesce(recorded.account_id, shown.account_id) || case when shown.type is null then ' has no ' else ' has ' end
    || coalesce(recorded.type, shown.type) || ' of ' || coalesce(recorded.object_id, shown.object_id)
    || case when shown.type is null then '' else ', which no record has' end as what
  from recorded full join shown using (account_id, type, object_id, nth)
  where (recorded.type is null and shown.type <> all ($1)) or (shown.type is null and is_due)
  order by 1`;

/**
 * Where `GET /v1/events` of an account differs from the records of settlement, quote, funding and
 * identity, whatever the stream of events has lost. webhook may notice a loss late.
 */
export const readEventDifferences = async ({ query }: Pick<Access, 'query'>): Promise<string[]> => {
  let differences: string[] = [];
  const readAgain = async () => {
    const recorded = await Promise.all(
      RECORDED.map((events) =>
        query(
          `select * from (${events}) as record(account_id, type, object_id, nth, is_due, may_be)
           where account_id is not null and (is_due or may_be)`,
        ),
      ),
    );
    const values = [UNCOUNTED, JSON.stringify(recorded.flat())];
    differences = (await query<{ what: string }>(COMPARED, values)).map(({ what }) => what);
    return differences;
  };
  await waitFor(readAgain, ({ length }) => length === 0, ARRIVE_WITHIN_MS, 1000).catch((error: unknown) => {
    // Events that never come are a finding. A database that does not answer is an error.
    if (differences.length === 0) throw error;
  });
  return differences;
};
