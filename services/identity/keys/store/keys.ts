import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { type Page, pageBy } from '../../../../shared/lists/page.ts';
import { isFrozen } from '../../accounts/store.ts';

/** The service or delegate that a key belongs to. */
export type KeyOwner = { kind: 'service' | 'delegate'; id: string };

const ownedBy = ({ kind, id }: KeyOwner) =>
  kind === 'service' ? sql.fragment`service_id = ${id}::uuid` : sql.fragment`delegate_id = ${id}`;
const columnOf = ({ kind }: KeyOwner) =>
  kind === 'service' ? sql.fragment`service_id` : sql.fragment`delegate_id`;
const isValid = sql.fragment`(keys.revoked_at is null or keys.revoked_at > app_now())`;

/** Writes the hash and the beginning of a new key, which becomes the current one of its owner. */
export const insertKey = (
  db: Db,
  owner: KeyOwner,
  key: { key_id: string; account_id: string; key_hash: string; beginning: string },
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into keys (key_id, account_id, key_hash, beginning, ${columnOf(owner)})
    values (${key.key_id}, ${key.account_id}, ${key.key_hash}, ${key.beginning},
      ${owner.kind === 'service' ? sql.fragment`${owner.id}::uuid` : owner.id})`);

/** A write for each call would be too many, and an hour answers whether a key is still in use. */
const isUseRecorded = sql.fragment`coalesce(keys.last_used_at > app_now() - interval '1 hour', false)`;

const status = {
  key_hash: z.string(),
  /** Addresses and CIDR blocks from which it may be used; null: any. */
  allowed_ips: z.array(z.string()).nullable(),
  frozen: z.boolean(),
  limit_factor: z.number(),
  refused: z.enum(['revoked', 'delegate_deleted', 'delegate_expired']).nullable(),
  /** Epoch milliseconds; null for a valid key. */
  refused_since: z.number().nullable(),
  /** Whether its last use was recorded within the last hour. */
  use_recorded: z.boolean(),
};
const KeyRow = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('service_key'),
    key_id: z.string(),
    account_id: z.string(),
    service_id: z.string(),
    ...status,
  }),
  z.object({
    kind: z.literal('delegate_key'),
    key_id: z.string(),
    account_id: z.string(),
    delegate_id: z.string(),
    wallet_id: z.string(),
    ...status,
  }),
]);
export type KeyRow = z.infer<typeof KeyRow>;

/**
 * The principals of the keys with these hashes, and why they are no longer valid, in no order.
 * There is no row for a key that never was.
 */
export const listKeyRowsOf = (db: Db, keyHashes: readonly string[]): Promise<readonly KeyRow[]> =>
  db.any(sql.type(KeyRow)`
    select keys.key_hash, case when keys.service_id is null then 'delegate_key' else 'service_key' end as kind,
      keys.key_id, keys.account_id, keys.service_id, keys.delegate_id, delegates.wallet_id,
      services.allowed_ips,
      ${isFrozen} as frozen, accounts.limit_factor,
      case when delegates.deleted_at is not null then 'delegate_deleted'
        when not ${isValid} or accounts.closed_at is not null then 'revoked'
        when delegates.expires_at <= app_now() then 'delegate_expired' end as refused,
      case when delegates.deleted_at is not null then delegates.deleted_at
        when not ${isValid} or accounts.closed_at is not null then least(keys.revoked_at, accounts.closed_at)
        when delegates.expires_at <= app_now() then delegates.expires_at end as refused_since,
      ${isUseRecorded} as use_recorded
    from keys join accounts using (account_id) left join delegates on delegates.delegate_id = keys.delegate_id
      left join services on services.service_id = keys.service_id
    where keys.key_hash = any(${sql.array([...keyHashes], 'text')})`);

/** Records that keys were used, unless that was recorded within the last hour. */
export const recordKeyUses = (db: Db, keyHashes: readonly string[]): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update keys set last_used_at = app_now()
    where key_hash = any(${sql.array([...keyHashes], 'text')}) and not ${isUseRecorded}`);

const ListedKey = z.object({
  key_id: z.string(),
  service_id: z.string().nullable(),
  delegate_id: z.string().nullable(),
  name: z.string(),
  beginning: z.string(),
  current: z.boolean(),
  created_at: z.number(),
  last_used_at: z.number().nullable(),
  /** The end of its grace period or of its delegate, whichever is first. */
  expires_at: z.number().nullable(),
});

/** A page of the account's keys that can be used, newest first, and one more. */
export const listKeyRows = (
  db: Db,
  { account_id }: { account_id: string },
  page: Page,
): Promise<readonly z.infer<typeof ListedKey>[]> =>
  db.any(sql.type(ListedKey)`
    select key_id, keys.service_id, keys.delegate_id, coalesce(services.name, delegates.name) as name, beginning,
      revoked_at is null as current, keys.created_at, last_used_at,
      least(revoked_at, delegates.expires_at) as expires_at
    from keys left join services using (service_id)
      left join delegates on delegates.delegate_id = keys.delegate_id
    where keys.account_id = ${account_id} and ${isValid}
      and (delegates.expires_at is null or delegates.expires_at > app_now())
      ${pageBy('key_id', page)}`);

/**
 * Whether the owner's key is its current one. False: it is in its grace period. Null: it is
 * revoked.
 */
export const isCurrentKey = (db: Db, owner: KeyOwner, keyId: string): Promise<boolean | null> =>
  db.maybeOneFirst(sql.type(z.object({ current: z.boolean() }))`
    select revoked_at is null as current from keys where key_id = ${keyId} and ${ownedBy(owner)} and ${isValid}`);

const Hash = z.object({ key_hash: z.string() });

/** Revokes keys in their grace period, so that another one may begin; returns their hashes. */
export const revokeKeysInGrace = (db: Db, owner: KeyOwner): Promise<readonly string[]> =>
  db.anyFirst(sql.type(Hash)`
    update keys set revoked_at = app_now() where ${ownedBy(owner)} and revoked_at > app_now() returning key_hash`);

/** Revokes all keys of an owner at once; returns the hashes of those that were valid. */
export const revokeKeys = (db: Db, owner: KeyOwner): Promise<readonly string[]> =>
  db.anyFirst(sql.type(Hash)`
    update keys set revoked_at = app_now() where ${ownedBy(owner)} and ${isValid} returning key_hash`);

/** Revokes all keys of an account at once; returns the hashes of those that were valid. */
export const revokeKeysOfAccount = (db: Db, accountId: string): Promise<readonly string[]> =>
  db.anyFirst(sql.type(Hash)`
    update keys set revoked_at = app_now() where account_id = ${accountId} and ${isValid} returning key_hash`);

/**
 * Begins the grace period of the current key; returns its end, or null when there was no current
 * key.
 */
export const beginKeyGrace = (db: Db, owner: KeyOwner, graceHours: number): Promise<number | null> =>
  db.maybeOneFirst(sql.type(z.object({ revoked_at: z.number() }))`
    update keys set revoked_at = app_now() + ${graceHours} * interval '1 hour'
    where ${ownedBy(owner)} and revoked_at is null returning revoked_at`);

const LockedKeyOwner = z.object({ account_id: z.string(), name: z.string(), key_grace_hours: z.number() });

export type LockedKeyOwner = z.infer<typeof LockedKeyOwner>;

/** Grace period of a delegate's key. Services have a setting for it, delegates do not. */
const DELEGATE_GRACE_HOURS = 24;

/**
 * Locks a service or delegate that is not deleted, so that concurrent changes of its keys run one
 * after another. Null when there is none, or when it belongs to another account than the given one.
 */
export const lockKeyOwner = (
  db: Db,
  { kind, id }: KeyOwner,
  accountId: string | null,
): Promise<LockedKeyOwner | null> => {
  const own = accountId === null ? sql.fragment`` : sql.fragment`and account_id = ${accountId}`;
  return kind === 'service'
    ? db.maybeOne(sql.type(LockedKeyOwner)`
        select account_id, name, key_grace_hours from services
        where service_id = ${id} and status <> 'closed' ${own} for update`)
    : db.maybeOne(sql.type(LockedKeyOwner)`
        select account_id, name, ${DELEGATE_GRACE_HOURS}::int as key_grace_hours from delegates
        where delegate_id = ${id} and deleted_at is null ${own} for update`);
};
