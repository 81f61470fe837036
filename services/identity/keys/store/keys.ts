import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';

/** Whose key it is. */
export type KeyOwner = { kind: 'service' | 'delegate'; id: string };

const ownedBy = ({ kind, id }: KeyOwner) =>
  kind === 'service' ? sql.fragment`service_id = ${id}::uuid` : sql.fragment`delegate_id = ${id}`;
const columnOf = ({ kind }: KeyOwner) =>
  kind === 'service' ? sql.fragment`service_id` : sql.fragment`delegate_id`;
const isLive = sql.fragment`(keys.ended_at is null or keys.ended_at > app_now())`;

/** Writes the hash of a new key, the current one of its owner. */
export const insertKey = (
  db: Db,
  owner: KeyOwner,
  key: { key_id: string; account_id: string; key_hash: string },
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into keys (key_id, account_id, key_hash, ${columnOf(owner)})
    values (${key.key_id}, ${key.account_id}, ${key.key_hash},
      ${owner.kind === 'service' ? sql.fragment`${owner.id}::uuid` : owner.id})`);

const standing = { frozen: z.boolean(), limit_factor: z.number() };
const Live = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('service_key'),
    key_id: z.string(),
    account_id: z.string(),
    service_id: z.string(),
    ...standing,
  }),
  z.object({
    kind: z.literal('delegate_key'),
    key_id: z.string(),
    account_id: z.string(),
    delegate_id: z.string(),
    wallet_id: z.string(),
    ...standing,
  }),
]);
export type LiveKey = z.infer<typeof Live>;

/** Who stands behind the live key with this hash, or null: unknown, past its grace, of a delegate that is expired or deleted. */
export const findLiveKey = (db: Db, keyHash: string): Promise<LiveKey | null> =>
  db.maybeOne(sql.type(Live)`
    select case when keys.service_id is null then 'delegate_key' else 'service_key' end as kind,
      keys.key_id, keys.account_id, keys.service_id, keys.delegate_id, delegates.wallet_id,
      accounts.frozen_at is not null as frozen, accounts.limit_factor
    from keys join accounts using (account_id) left join delegates on delegates.delegate_id = keys.delegate_id
    where keys.key_hash = ${keyHash} and ${isLive}
      and (keys.delegate_id is null
        or delegates.deleted_at is null and (delegates.expires_at is null or delegates.expires_at > app_now()))`);

/** Whether the owner's key is its current one (false: in its grace period), or null when it has ended. */
export const isCurrentKey = (db: Db, owner: KeyOwner, keyId: string): Promise<boolean | null> =>
  db.maybeOneFirst(sql.type(z.object({ current: z.boolean() }))`
    select ended_at is null as current from keys where key_id = ${keyId} and ${ownedBy(owner)} and ${isLive}`);

const Hash = z.object({ key_hash: z.string() });

/** Ends keys in their grace period, so that there is room for another; returns their hashes. */
export const endGrace = (db: Db, owner: KeyOwner): Promise<readonly string[]> =>
  db.anyFirst(sql.type(Hash)`
    update keys set ended_at = app_now() where ${ownedBy(owner)} and ended_at > app_now() returning key_hash`);

/** Ends all keys of an owner at once; returns the hashes of those that were live. */
export const endKeys = (db: Db, owner: KeyOwner): Promise<readonly string[]> =>
  db.anyFirst(sql.type(Hash)`
    update keys set ended_at = app_now() where ${ownedBy(owner)} and ${isLive} returning key_hash`);

/** Gives the current key its grace period; returns when it ends, null when there was no current key. */
export const retireKey = (db: Db, owner: KeyOwner, graceHours: number): Promise<number | null> =>
  db.maybeOneFirst(sql.type(z.object({ ended_at: z.number() }))`
    update keys set ended_at = app_now() + ${graceHours} * interval '1 hour'
    where ${ownedBy(owner)} and ended_at is null returning ended_at`);

const Locked = z.object({ account_id: z.string(), name: z.string(), key_grace_hours: z.number() });

/** Grace of a delegate's key: services have a setting, delegates the default. */
const DELEGATE_GRACE_HOURS = 24;

/**
 * Locks a service or delegate that is not over, so that changes of its keys come one after another; null when there is
 * none. With an account, another's does not exist.
 */
export const lockKeyOwner = (
  db: Db,
  { kind, id }: KeyOwner,
  accountId: string | null,
): Promise<z.infer<typeof Locked> | null> => {
  const own = accountId === null ? sql.fragment`` : sql.fragment`and account_id = ${accountId}`;
  return kind === 'service'
    ? db.maybeOne(sql.type(Locked)`
        select account_id, name, key_grace_hours from services
        where service_id = ${id} and status <> 'closed' ${own} for update`)
    : db.maybeOne(sql.type(Locked)`
        select account_id, name, ${DELEGATE_GRACE_HOURS}::int as key_grace_hours from delegates
        where delegate_id = ${id} and deleted_at is null ${own} for update`);
};
