import { z } from 'zod';
import { DOMAIN_PROBLEMS, DOMAIN_PROVEN_HOURS } from '../../../shared/contract/identity/services.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { stateColumn } from '../../../shared/db/state-column.ts';
import type { Page } from '../../../shared/lists/page.ts';
import { services } from './model.ts';

const state = stateColumn(services);

const Row = z.object({
  service_id: z.string(),
  account_id: z.string(),
  name: z.string(),
  price: z.bigint(),
  payout_address: z.string(),
  next_payout_address: z.string().nullable(),
  next_payout_at: z.number().nullable(),
  redeem_window_seconds: z.number(),
  key_grace_hours: z.number(),
  /** Addresses and CIDR blocks; null: any. */
  allowed_ips: z.array(z.string()).nullable(),
  /** The claimed domain in ASCII. */
  domain: z.string().nullable(),
  /** When its proof was last seen, while that counts. */
  domain_verified_at: z.number().nullable(),
  domain_checked_at: z.number().nullable(),
  domain_problem: z.enum(DOMAIN_PROBLEMS).nullable(),
  status: z.enum(['active', 'closing']),
  created_at: z.number(),
});
export type ServiceRow = z.infer<typeof Row>;

/** A pending payout address takes effect by the clock alone. No job runs for it. */
const isPayoutEffective = sql.fragment`coalesce(next_payout_at <= app_now(), false)`;
const effectivePayout = sql.fragment`case when ${isPayoutEffective} then next_payout_address else payout_address end`;
const columns = sql.fragment`service_id, account_id, name, price, ${effectivePayout} as payout_address,
  case when not ${isPayoutEffective} then next_payout_address end as next_payout_address,
  case when not ${isPayoutEffective} then next_payout_at end as next_payout_at,
  redeem_window_seconds, key_grace_hours, allowed_ips, domain, domain_checked_at, domain_problem,
  case when domain_verified_at > app_now() - ${DOMAIN_PROVEN_HOURS} * interval '1 hour' then domain_verified_at end
    as domain_verified_at, status, created_at`;
/** A closed service stays for the history and is in no answer. */
const isNotClosed = state.isNot('closed');

type NewService = Pick<
  ServiceRow,
  | 'service_id'
  | 'account_id'
  | 'name'
  | 'price'
  | 'payout_address'
  | 'redeem_window_seconds'
  | 'key_grace_hours'
  | 'created_at'
>;

/** Writes a new, active service. `created_at` is epoch milliseconds. */
export const insertService = (db: Db, row: NewService): Promise<ServiceRow> =>
  db.one(sql.type(Row)`
    insert into services (service_id, account_id, name, price, payout_address, redeem_window_seconds,
      key_grace_hours, created_at)
    values (${row.service_id}, ${row.account_id}, ${row.name}, ${row.price}, ${row.payout_address},
      ${row.redeem_window_seconds}, ${row.key_grace_hours}, to_timestamp(${row.created_at}::float8 / 1000))
    returning ${columns}`);

/** The account's service. Null when there is none, or when it belongs to another account. */
export const findServiceRow = (db: Db, accountId: string, serviceId: string): Promise<ServiceRow | null> =>
  db.maybeOne(sql.type(Row)`
    select ${columns} from services where account_id = ${accountId} and service_id = ${serviceId} and ${isNotClosed}`);

/** A service of any account, for the services that handle its quotes. */
export const findAnyServiceRow = (db: Db, serviceId: string): Promise<ServiceRow | null> =>
  db.maybeOne(
    sql.type(Row)`select ${columns} from services where service_id = ${serviceId} and ${isNotClosed}`,
  );

/** The end of a page. A service id is a random UUID, so the time of creation orders the list. */
type Place = { created_at: number; service_id: string };

/** A page of the account's services, newest first, and one more. */
export const listServiceRows = (
  db: Db,
  { account_id }: { account_id: string },
  { before, limit }: Page<Place>,
): Promise<readonly ServiceRow[]> =>
  db.any(sql.type(Row)`
    select ${columns} from services
    where account_id = ${account_id} and ${isNotClosed}
      ${
        before === null
          ? sql.fragment``
          : sql.fragment`and (created_at, service_id)
              < (to_timestamp(${before.created_at}::float8 / 1000), ${before.service_id}::uuid)`
      }
    order by created_at desc, service_id desc limit ${limit + 1}`);

type ServiceChange = {
  name: string | undefined;
  price: bigint | undefined;
  redeem_window_seconds: number | undefined;
  key_grace_hours: number | undefined;
  /** Null: the keys may be used from any address. */
  allowed_ips: readonly string[] | null | undefined;
  /** In ASCII. Another one than now begins without proof. */
  domain: string | null | undefined;
  /** Takes effect after the delay. The present address cancels a pending one. */
  payout_address: string | undefined;
  payoutDelayHours: number;
};

/** A domain that is set again keeps its proof. */
const domainChange = (domain: string | null) => {
  const kept = (column: 'domain_verified_at' | 'domain_checked_at' | 'domain_problem') =>
    sql.fragment`${sql.identifier([column])} = case when domain = ${domain} then ${sql.identifier([column])} end,`;
  return sql.fragment`domain = ${domain}, ${kept('domain_verified_at')} ${kept('domain_checked_at')}
    ${kept('domain_problem')} domain_check_at = case when ${domain}::text is not null then app_now() end,`;
};

/** Updates the account's service. An undefined field stays. Null when there is no such service. */
export const updateServiceRow = (
  db: Db,
  accountId: string,
  serviceId: string,
  change: ServiceChange,
): Promise<ServiceRow | null> => {
  const payout = change.payout_address;
  const payoutChange =
    payout === undefined
      ? sql.fragment``
      : sql.fragment`, payout_address = ${effectivePayout},
          next_payout_address = nullif(${payout}, ${effectivePayout}),
          next_payout_at = case when ${payout} <> ${effectivePayout}
            then app_now() + ${change.payoutDelayHours} * interval '1 hour' end`;
  const { allowed_ips: blocks, domain } = change;
  const blocksChange =
    blocks === undefined
      ? sql.fragment``
      : sql.fragment`, allowed_ips = ${blocks === null ? null : sql.array([...blocks], 'text')}`;
  return db.maybeOne(sql.type(Row)`
    update services set ${domain === undefined ? sql.fragment`` : domainChange(domain)} name = coalesce(${change.name ?? null}, name),
      price = coalesce(${change.price ?? null}::bigint, price),
      redeem_window_seconds = coalesce(${change.redeem_window_seconds ?? null}::int, redeem_window_seconds),
      key_grace_hours = coalesce(${change.key_grace_hours ?? null}::int, key_grace_hours)
      ${payoutChange}${blocksChange}
    where account_id = ${accountId} and service_id = ${serviceId} and ${isNotClosed}
    returning ${columns}`);
};

/** How long a payment may be consumed or refunded after the last redeem window. */
export const CLOSING_DAYS = 30;

/**
 * Begins to close a service: it gets no new quotes. False when there is no such service. A repeat
 * changes nothing.
 */
export const beginClosingService = async (db: Db, accountId: string, serviceId: string): Promise<boolean> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update services set status = ${state.after('close')}, closing_at = coalesce(closing_at, app_now()),
      end_check_at = coalesce(end_check_at, app_now() + ${CLOSING_DAYS} * interval '1 day')
    where account_id = ${accountId} and service_id = ${serviceId} and ${state.allows('close')}`);
  return rowCount > 0;
};

/** Reopens a closing service, because something was still open. */
export const reopenService = (db: Db, accountId: string, serviceId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update services set status = ${state.after('reopen')}, closing_at = null, end_check_at = null
    where account_id = ${accountId} and service_id = ${serviceId} and ${state.allows('reopen')}`);

const Ended = z.object({ account_id: z.string(), name: z.string() });

/**
 * Ends a closing service for good. Returns its account and name, or null when it was not closing.
 * Of concurrent callers, one ends it.
 */
export const endServiceRow = (db: Db, serviceId: string): Promise<z.infer<typeof Ended> | null> =>
  db.maybeOne(sql.type(Ended)`
    update services set status = ${state.after('end')}, end_check_at = null
    where service_id = ${serviceId} and ${state.allows('end')} returning account_id, name`);

const Closing = z.object({ service_id: z.string(), now: z.number() });

/**
 * Claims closing services that may end now, with the database's clock. A claimed service is left
 * alone by every replica for an hour.
 */
export const claimClosingServices = (db: Db, limit: number): Promise<readonly z.infer<typeof Closing>[]> =>
  db.any(sql.type(Closing)`
    update services set end_check_at = app_now() + interval '1 hour'
    where service_id in (
      select service_id from services where ${state.isFrom('end')} and end_check_at <= app_now()
      order by end_check_at limit ${limit} for update skip locked)
    returning service_id, app_now() as now`);

/** Sets the time of the next check, in epoch milliseconds. */
export const updateEndCheckAt = (db: Db, serviceId: string, at: number): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update services set end_check_at = to_timestamp(${at}::float8 / 1000)
    where service_id = ${serviceId} and ${state.allows('end')}`);

/** Ends all services of an account whose work is done. */
export const endServicesOf = async (tx: Db, accountId: string): Promise<void> => {
  await tx.query(sql.typeAlias('void')`
    update services set status = ${state.after('close')}, closing_at = coalesce(closing_at, app_now())
    where account_id = ${accountId} and ${state.allows('close')}`);
  await tx.query(sql.typeAlias('void')`
    update services set status = ${state.after('end')}, end_check_at = null
    where account_id = ${accountId} and ${state.allows('end')}`);
};

/** Erases the names and domains of an account's services. */
export const eraseServiceNames = (tx: Db, accountId: string): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`
    update services set ${domainChange(null)} name = 'erased' where account_id = ${accountId}`);

const Claim = z.object({ service_id: z.string(), domain: z.string() });
type DomainClaim = z.infer<typeof Claim>;

/** How often a domain is checked. */
const nextDomainCheck = sql.fragment`app_now() + interval '6 hours'`;

/** Claims services whose domain is to be checked, for all replicas, until they are due again. */
export const claimDomains = (db: Db, limit: number): Promise<readonly DomainClaim[]> =>
  db.any(sql.type(Claim)`
    update services set domain_check_at = ${nextDomainCheck}
    where service_id in (
      select service_id from services where domain is not null and ${isNotClosed} and domain_check_at <= app_now()
      order by domain_check_at limit ${limit} for update skip locked)
    returning service_id, domain`);

/**
 * Writes what a check of a domain has found, unless the service has another domain by now.
 * @param problem null: the proof. `no_answer` leaves the proof as it was seen last
 */
export const updateDomainProof = (
  db: Db,
  { service_id, domain }: DomainClaim,
  problem: ServiceRow['domain_problem'],
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update services set domain_checked_at = app_now(), domain_check_at = ${nextDomainCheck},
      domain_problem = ${problem},
      domain_verified_at = case
        when ${problem}::text is null then app_now()
        when ${problem} = 'no_answer' then domain_verified_at end
    where service_id = ${service_id} and domain = ${domain} and ${isNotClosed}`);
