import { z } from 'zod';
import { type Attempt, DELIVERY_ERRORS, EventType } from '../../../shared/contract/webhook.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { stateColumn } from '../../../shared/db/state-column.ts';
import { matching, type Page, pageBy } from '../../../shared/lists/page.ts';
import { isSubscribedTo } from '../endpoints/store.ts';
import { type DeliveryEvent, deliveries } from './model/delivery.ts';

const state = stateColumn(deliveries);

type Fragment = ReturnType<typeof sql.fragment>;

/** Condition: the account gets the event, alone or with another one. */
export const isEventOf = (account: Fragment) =>
  sql.fragment`(events.account_id = ${account} or events.other_account_id = ${account})`;

/** The column `data` of an event as one of its accounts sees it. */
export const dataFor = (account: Fragment) => sql.fragment`
  events.data || case when events.account_id = ${account} then events.own else events.other_own end as data`;

const AttemptRow = z.object({
  at: z.string(),
  status_code: z.number().nullable(),
  error: z.enum(DELIVERY_ERRORS).nullable(),
  duration_ms: z.number(),
  response: z.string().nullable(),
});
const Row = z.object({
  event_id: z.string(),
  type: EventType,
  status: z.enum(deliveries.states),
  attempts: z.array(AttemptRow),
  next_attempt_at: z.number().nullable(),
  created_at: z.number(),
});
export type DeliveryRow = z.infer<typeof Row>;

/** A page of the endpoint's deliveries, by event and newest first, and one more. */
export const listDeliveryRows = (
  db: Db,
  { endpoint_id, status }: { endpoint_id: string; status?: DeliveryRow['status'] | undefined },
  page: Page,
): Promise<readonly DeliveryRow[]> =>
  db.any(sql.type(Row)`
    select event_id, type, status, attempts, next_attempt_at, deliveries.created_at
    from deliveries join events using (event_id)
    where endpoint_id = ${endpoint_id} ${matching({ status })} ${pageBy('event_id', page)}`);

const Due = z.object({
  endpoint_id: z.string(),
  event_id: z.string(),
  tries: z.number(),
  url: z.string(),
  secret: z.string(),
  // Null when its overlap has ended.
  previous_secret: z.string().nullable(),
  // Not EventType: one of a newer version is delivered as it is.
  type: z.string(),
  data: z.record(z.string(), z.json()),
  created_at: z.number(),
  /** When the delivery was made, at its first attempt ever. Later attempts: null. */
  first_since: z.number().nullable(),
});
export type DueRow = z.infer<typeof Due>;

/** Addresses events to endpoints. `pairs` selects the ids of the endpoint and of the event. */
export const addressEvents = (pairs: Fragment) => sql.fragment`
  insert into deliveries (endpoint_id, event_id) ${pairs}`;

/** Longer than an attempt may take. After a crash the delivery is sent again when it expires. */
const LEASE = '60 seconds';
/**
 * Permits of one replica for one endpoint. An endpoint that fails has a single one, so that a
 * receiver that hangs does not delay the others.
 */
export const PERMITS_PER_ENDPOINT = 4;

/**
 * Claims due deliveries, for each endpoint no more than it has permits left: `inUse` holds the
 * caller's deliveries under way by endpoint. Accounts that use fewer of the caller's permits come
 * first, so that slow receivers with an old backlog do not occupy all of them. Any number of
 * replicas may claim at the same time.
 */
export const claimDue = (
  db: Db,
  inUse: Readonly<Record<string, number>>,
  limit: number,
): Promise<readonly DueRow[]> => {
  const permits = JSON.stringify(inUse);
  return db.any(sql.type(Due)`
    with permits as (
      select account_id, sum(value::int) as in_use
      from jsonb_each_text(${permits}::jsonb) join endpoints on endpoint_id = key group by account_id
    ), due as (
      select endpoints.endpoint_id, endpoints.account_id, next.event_id, url, secret,
        case when previous_secret_expires_at > app_now() then previous_secret end as previous_secret
      from endpoints left join permits using (account_id)
      cross join lateral (
        select event_id, next_attempt_at from deliveries
        where deliveries.endpoint_id = endpoints.endpoint_id and ${state.isFrom('deliver')}
          and next_attempt_at <= app_now() and (leased_until is null or leased_until <= app_now())
        order by next_attempt_at
        limit greatest(0, case when failing_since is null then ${PERMITS_PER_ENDPOINT}::int else 1 end
          - coalesce((${permits}::jsonb ->> endpoints.endpoint_id)::int, 0))
        for update skip locked
      ) as next
      where disabled_reason is null
      order by coalesce(permits.in_use, 0)
          + row_number() over (partition by endpoints.account_id order by next.next_attempt_at),
        next.next_attempt_at
      limit ${limit}
    ), claimed as (
      update deliveries set tries = tries + 1, leased_until = app_now() + ${LEASE}::interval
      from due where deliveries.endpoint_id = due.endpoint_id and deliveries.event_id = due.event_id
      returning deliveries.endpoint_id, deliveries.event_id, tries,
        case when attempts = '[]' then deliveries.created_at end as first_since
    )
    select claimed.endpoint_id, claimed.event_id, tries, url, secret, previous_secret, type,
      ${dataFor(sql.fragment`due.account_id`)}, created_at, first_since
    from claimed join due on due.endpoint_id = claimed.endpoint_id and due.event_id = claimed.event_id
    join events on events.event_id = claimed.event_id`);
};

/** The attempts that the log of a delivery holds, over all its rounds. */
const LOGGED_ATTEMPTS = 16;

/**
 * Records an attempt. False when another replica has claimed the delivery since, or it is deleted.
 * @param transition the delivery's transition, with the seconds until the next attempt for a retry
 */
export const recordAttempt = async (
  db: Db,
  { endpoint_id, event_id, tries }: Pick<DueRow, 'endpoint_id' | 'event_id' | 'tries'>,
  attempt: Attempt,
  transition:
    | { event: Extract<DeliveryEvent, 'deliver' | 'exhaust'> }
    | { event: Extract<DeliveryEvent, 'retry'>; afterSeconds: number },
): Promise<boolean> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update deliveries set status = ${state.after(transition.event)}, leased_until = null,
      next_attempt_at = ${
        transition.event === 'retry'
          ? sql.fragment`app_now() + make_interval(secs => ${transition.afterSeconds}::float8)`
          : sql.fragment`null`
      },
      attempts = jsonb_path_query_array(attempts || ${JSON.stringify([attempt])}::jsonb,
        ('$[last - ' || ${LOGGED_ATTEMPTS - 1}::int || ' to last]')::jsonpath)
    where endpoint_id = ${endpoint_id} and event_id = ${event_id} and ${state.allows(transition.event)} and tries = ${tries}
      and leased_until is not null`);
  return rowCount > 0;
};

/**
 * Delivers events again, each in a new round of attempts: the named event, whether or not the
 * endpoint subscribes to its type, or all events since a time that it subscribes to. A delivery
 * that is under way at this moment is not repeated. The statement locks the endpoint first, see
 * `lockEndpoint`.
 * @returns the number of deliveries
 */
export const redeliverEvents = async (
  db: Db,
  { account_id, endpoint_id }: { account_id: string; endpoint_id: string },
  { event_id, since }: { event_id: string | undefined; since: string | undefined },
  limit: number,
): Promise<number> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    insert into deliveries as existing (endpoint_id, event_id)
    select endpoint_id, event_id from endpoints cross join events
    where endpoint_id = ${endpoint_id} and endpoints.account_id = ${account_id} and ${isEventOf(sql.fragment`${account_id}`)}
      ${since === undefined ? sql.fragment`` : sql.fragment`and events.created_at >= ${since}::timestamptz`}
      and ${
        event_id === undefined
          ? sql.fragment`type <> 'webhook.test' and ${isSubscribedTo(sql.fragment`events.type`)}`
          : sql.fragment`event_id = ${event_id}`
      }
    order by event_id limit ${limit} for key share of endpoints
    on conflict (endpoint_id, event_id) do update set status = ${state.after('redeliver')}, tries = 0, next_attempt_at = app_now(),
      leased_until = null
    where existing.leased_until is null or existing.leased_until <= app_now()`);
  return rowCount;
};

/** Whether a delivery is due and has not begun. */
export const isDue = sql.fragment`${state.isFrom('deliver')} and next_attempt_at <= app_now()
  and (leased_until is null or leased_until <= app_now())`;

const Backlog = z.object({ deliveries: z.bigint(), oldest_age: z.number() });
const COUNT_UP_TO = 10_000;

/**
 * The number of due deliveries that have not begun and the age of the oldest in seconds, of enabled
 * endpoints that do not fail.
 */
export const getDueBacklog = (db: Db): Promise<z.infer<typeof Backlog>> =>
  db.one(sql.type(Backlog)`
    with due as (
      select next_attempt_at from deliveries join endpoints using (endpoint_id)
      where ${isDue} and disabled_reason is null and failing_since is null
      limit ${COUNT_UP_TO}
    )
    select count(*) as deliveries,
      coalesce(extract(epoch from app_now() - min(next_attempt_at)), 0)::float8 as oldest_age
    from due`);
