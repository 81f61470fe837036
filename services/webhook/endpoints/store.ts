import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { stateColumn } from '../../../shared/db/state-column.ts';
import { type Page, pageBy } from '../../../shared/lists/page.ts';
import { endpoints } from './model/endpoint.ts';

/** An endpoint without a `disabled_reason` is in the state `on`. */
const state = stateColumn(endpoints, sql.fragment`coalesce(disabled_reason, 'on')`);

const Row = z.object({
  endpoint_id: z.string(),
  account_id: z.string(),
  url: z.string(),
  description: z.string().nullable(),
  event_types: z.array(z.string()),
  disabled_reason: z.enum(['owner', 'failing', 'gone']).nullable(),
  failing_since: z.number().nullable(),
  // Null when it has expired, whether or not the secret is still stored.
  previous_secret_expires_at: z.number().nullable(),
  created_at: z.number(),
});
export type EndpointRow = z.infer<typeof Row>;

const columns = sql.fragment`endpoint_id, account_id, url, description, event_types, disabled_reason, failing_since,
  case when previous_secret_expires_at > app_now() then previous_secret_expires_at end as previous_secret_expires_at,
  created_at`;

/** Whether an endpoint subscribes to a type: by its name, its group or all. */
export const isSubscribedTo = (type: ReturnType<typeof sql.fragment>) => sql.fragment`
  (array['*', ${type}, split_part(${type}, '.', 1) || '.*'] && endpoints.event_types)`;

/**
 * Writes a new endpoint. Null when the account has `max` already. A lock of the transaction covers
 * the count, so concurrent calls cannot exceed it.
 */
export const insertEndpoint = async (
  tx: Db,
  row: Pick<EndpointRow, 'endpoint_id' | 'account_id' | 'url' | 'description' | 'event_types'> & {
    secret: string;
  },
  max: number,
): Promise<EndpointRow | null> => {
  await tx.query(sql.typeAlias('void')`select pg_advisory_xact_lock(hashtextextended(${row.account_id}, 0))`);
  return tx.maybeOne(sql.type(Row)`
    insert into endpoints (endpoint_id, account_id, url, description, event_types, secret)
    select ${row.endpoint_id}, ${row.account_id}, ${row.url}, ${row.description},
      ${sql.array([...row.event_types], 'text')}, ${row.secret}
    where (select count(*) from endpoints where account_id = ${row.account_id}) < ${max}
    returning ${columns}`);
};

/** The account's endpoint. Null when there is none, or when it belongs to another account. */
export const findEndpoint = (db: Db, accountId: string, endpointId: string): Promise<EndpointRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from endpoints where endpoint_id = ${endpointId} and account_id = ${accountId}`);

/** A page of the account's endpoints, newest first, and one more. */
export const listEndpointRows = (
  db: Db,
  { account_id }: { account_id: string },
  page: Page,
): Promise<readonly EndpointRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from endpoints where account_id = ${account_id} ${pageBy('endpoint_id', page)}`);

/**
 * Updates the given fields. Null when there is no such endpoint. Enabling it or changing its URL
 * resets `failing_since`.
 */
export const updateEndpointRow = (
  db: Db,
  accountId: string,
  endpointId: string,
  change: {
    url: string | undefined;
    description: string | null | undefined;
    event_types: readonly string[] | undefined;
    enabled: boolean | undefined;
  },
): Promise<EndpointRow | null> => {
  const { url = null, description, event_types, enabled } = change;
  return db.maybeOne(sql.type(Row)`
    update endpoints set url = coalesce(${url}, url),
      description = ${description === undefined ? sql.fragment`description` : description},
      event_types = ${event_types === undefined ? sql.fragment`event_types` : sql.array([...event_types], 'text')},
      disabled_reason = ${
        enabled === undefined
          ? sql.fragment`disabled_reason`
          : sql.fragment`nullif(${state.after(enabled ? 'enable' : 'disable')}, 'on')`
      },
      failing_since = case when ${enabled ?? false} or ${url} is distinct from url and ${url !== null}
        then null else failing_since end
    where endpoint_id = ${endpointId} and account_id = ${accountId}
    returning ${columns}`);
};

/** Deletes an endpoint with all its deliveries. False when there is none. */
export const deleteEndpointRow = async (db: Db, accountId: string, endpointId: string): Promise<boolean> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    delete from endpoints where endpoint_id = ${endpointId} and account_id = ${accountId}`);
  return rowCount > 0;
};

/** How long deliveries are signed with both secrets. */
const OVERLAP = '24 hours';

/**
 * Replaces the current secret, which also signs until the overlap ends. Null when there is no such
 * endpoint.
 */
export const replaceSecret = (
  db: Db,
  accountId: string,
  endpointId: string,
  secret: string,
): Promise<EndpointRow | null> =>
  db.maybeOne(sql.type(Row)`
    update endpoints set previous_secret = secret, previous_secret_expires_at = app_now() + ${OVERLAP}::interval,
      secret = ${secret}
    where endpoint_id = ${endpointId} and account_id = ${accountId}
    returning ${columns}`);

/** Deletes previous secrets whose overlap has ended. */
export const purgeSecrets = (db: Db): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update endpoints set previous_secret = null, previous_secret_expires_at = null
    where previous_secret_expires_at <= app_now()`);

/**
 * Locks an endpoint before its deliveries are changed. A deletion locks in that order, and two
 * transactions that lock in different orders could deadlock. Does nothing when there is none.
 */
export const lockEndpoint = (tx: Db, endpointId: string): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`select from endpoints where endpoint_id = ${endpointId} for no key update`);

/** Records a successful delivery, which resets `failing_since`. */
export const recordSuccess = (db: Db, endpointId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update endpoints set failing_since = null where endpoint_id = ${endpointId} and failing_since is not null`);

/** How long an endpoint may fail without a success before it is disabled. */
const MAX_FAILING = '5 days';
const Disabled = z.object({
  account_id: z.string(),
  disabled_reason: z.enum(['failing', 'gone']),
  now: z.number(),
});

/**
 * Records a failed delivery to this URL, which may have been changed since. Disables the endpoint
 * when it answered 410 (gone), or after five days without a success.
 * @returns the reason when it disabled the endpoint, null otherwise
 */
export const recordFailure = (
  db: Db,
  endpointId: string,
  { url, gone }: { url: string; gone: boolean },
): Promise<z.infer<typeof Disabled> | null> =>
  db.maybeOne(sql.type(Disabled)`
    with failed as (
      update endpoints set failing_since = coalesce(failing_since, app_now()),
        disabled_reason = case when ${gone} then ${state.after('gone')}
          when failing_since <= app_now() - ${MAX_FAILING}::interval then ${state.after('fail')} end
      where endpoint_id = ${endpointId} and url = ${url} and ${state.allows('fail')}
      returning account_id, disabled_reason
    )
    select account_id, disabled_reason, app_now() as now from failed where disabled_reason is not null`);

/** Deletes all endpoints of an account with their deliveries. */
export const deleteEndpointsOf = async (db: Db, accountId: string): Promise<void> => {
  await db.query(sql.typeAlias('void')`delete from endpoints where account_id = ${accountId}`);
};

const Sealed = z.object({
  endpoint_id: z.string(),
  secret: z.string(),
  previous_secret: z.string().nullable(),
});
type Sealed = z.infer<typeof Sealed>;

/** Endpoints with a secret that does not begin as what the first key seals, in their order. */
export const listSealedOtherwise = (
  db: Db,
  { sealed, after, limit }: { sealed: string; after: string; limit: number },
): Promise<readonly Sealed[]> =>
  db.any(sql.type(Sealed)`
    select endpoint_id, secret, previous_secret from endpoints
    where endpoint_id > ${after}
      and not (starts_with(secret, ${sealed}) and starts_with(coalesce(previous_secret, ${sealed}), ${sealed}))
    order by endpoint_id limit ${limit}`);

/** Replaces sealed secrets. False if they have changed since. */
export const replaceSealed = async (
  db: Db,
  { endpoint_id, secret, previous_secret }: Sealed,
  next: Omit<Sealed, 'endpoint_id'>,
): Promise<boolean> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update endpoints set secret = ${next.secret}, previous_secret = ${next.previous_secret}
    where endpoint_id = ${endpoint_id} and secret = ${secret}
      and previous_secret is not distinct from ${previous_secret}`);
  return rowCount === 1;
};
