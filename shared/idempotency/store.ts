import { z } from 'zod';
import { conflict, ServiceError } from '../contract/errors.ts';
import type { CallKey } from '../contract/idempotency.ts';
import { type Db, type Pool, sql } from '../db/pool.ts';
import { everyMs, type Periodic } from '../lib/periodic.ts';
import type { Logger } from '../lib/telemetry/logger.ts';

/**
 * The table `idempotency` of a service: its calls with an Idempotency-Key, for 24 hours. If the
 * creating commit is all that a handler does, it completes its call in it. If network calls follow,
 * that commit begins the call, and a later one completes or abandons it. Without a key each of
 * these functions does nothing.
 */

const RETENTION = '24 hours';
/**
 * Longer than any call: the gateway waits at most 30 s, and handlers that begin a call stop
 * earlier.
 */
const LEASE = '30 seconds';

/** Thrown out of the transaction of a handler if another call with the key has committed first. */
export class KeyTaken extends Error {}

const Found = z.object({ same: z.boolean(), object_id: z.string().nullable(), answer: z.unknown() });

const isCall = ({ accountId, operation, keyHash }: CallKey) =>
  sql.fragment`account_id = ${accountId} and operation = ${operation}
    and key_hash = ${sql.binary(Buffer.from(keyHash))}`;

/**
 * The earlier call with this key, or null: the object that it created, and its answer if it was
 * completed.
 * @throws ServiceError idempotency_mismatch if the key was used with another request
 */
export const findCall = async (
  db: Db,
  key: CallKey,
): Promise<{ object_id: string | null; answer: unknown } | null> => {
  const row = await db.maybeOne(sql.type(Found)`
    select fingerprint = ${sql.binary(Buffer.from(key.fingerprint))} as same, object_id, answer
    from idempotency where ${isCall(key)} and created_at > app_now() - ${RETENTION}::interval`);
  if (row === null) return null;
  const { same, ...call } = row;
  if (same) return call;
  throw new ServiceError(
    'idempotency_mismatch',
    'this Idempotency-Key was used with another request or by another credential; send a new request with a new key',
  );
};

/** Waits for an uncommitted call with the same key. One of the two transactions is rolled back. */
const insertCall = async (
  tx: Db,
  key: CallKey,
  { objectId, answer }: { objectId: string | null; answer: string | null },
): Promise<void> => {
  const { rowCount } = await tx.query(sql.typeAlias('void')`
    insert into idempotency as earlier (account_id, operation, key_hash, fingerprint, object_id, answer, leased_until)
    values (${key.accountId}, ${key.operation}, ${sql.binary(Buffer.from(key.keyHash))},
      ${sql.binary(Buffer.from(key.fingerprint))}, ${objectId}, ${answer}::json,
      app_now() + ${LEASE}::interval)
    on conflict (account_id, operation, key_hash) do update set fingerprint = excluded.fingerprint,
      object_id = excluded.object_id, answer = excluded.answer, leased_until = excluded.leased_until,
      created_at = excluded.created_at
    where earlier.created_at <= app_now() - ${RETENTION}::interval
      or earlier.answer is null and earlier.object_id = ${key.begun}`);
  if (rowCount === 0) throw new KeyTaken();
};

/**
 * Runs work in one commit with the record of the call. A single statement without a key needs no
 * transaction.
 */
export const inOneCommit = <T>(
  pool: Pool,
  key: CallKey | undefined,
  work: (tx: Db) => Promise<T>,
): Promise<T> => (key === undefined ? work(pool) : pool.transaction(work));

/**
 * Records a call and the object that it creates, in the transaction that inserts the object. The
 * call has a lease of 30 s.
 * @throws KeyTaken, which must roll back the transaction: another call with the key was first
 */
export const begin = async (tx: Db, key: CallKey | undefined, objectId: string): Promise<void> => {
  if (key !== undefined) await insertCall(tx, key, { objectId, answer: null });
};

/**
 * Records the answer of a call.
 * @param begun the object that `begin` named; without it, this is the transaction that creates
 * @throws KeyTaken, which must roll back the transaction: another call with the key was first, or
 *   has completed this one
 */
export const complete = async (
  tx: Db,
  key: CallKey | undefined,
  answer: object,
  begun?: string,
): Promise<void> => {
  if (key === undefined) return;
  if (begun === undefined) return insertCall(tx, key, { objectId: null, answer: key.answerText(answer) });
  const { rowCount } = await tx.query(sql.typeAlias('void')`
    update idempotency set answer = ${key.answerText(answer)}::json
    where ${isCall(key)} and answer is null and object_id = ${begun}`);
  if (rowCount === 0) throw new KeyTaken();
};

/** The error of a call that is still being carried out. */
export const callInProgress = (): ServiceError =>
  conflict('a call with this Idempotency-Key is under way; repeat it in a moment', {
    money_moved: 'unknown',
    safe_action: 'retry_same_attempt',
    retryAfterSeconds: 1,
  });

/**
 * Renews the lease of an earlier call that was begun and not completed.
 * @returns the id of the object, or null if there is nothing to resume
 * @throws ServiceError conflict with a Retry-After while the earlier call may be running
 */
export const resume = async (db: Db, key: CallKey | undefined): Promise<string | null> => {
  if (key === undefined || key.begun === null) return null;
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update idempotency set leased_until = app_now() + ${LEASE}::interval
    where ${isCall(key)} and answer is null and object_id = ${key.begun} and leased_until <= app_now()`);
  if (rowCount === 0) throw callInProgress();
  return key.begun;
};

/** Deletes a call that was begun and not completed. Its repeat begins again. */
export const abandon = async (db: Db, key: CallKey | undefined, objectId: string): Promise<void> => {
  if (key === undefined) return;
  await db.query(sql.typeAlias('void')`
    delete from idempotency where ${isCall(key)} and answer is null and object_id = ${objectId}`);
};

/** Deletes calls that are older than a day. Correctness does not depend on it. */
export const startPurgeCalls = ({ pool, logger }: { pool: Pool; logger: Logger }): Periodic =>
  everyMs(
    60_000,
    'purgeCalls',
    () =>
      pool.query(
        sql.typeAlias('void')`delete from idempotency where created_at <= app_now() - ${RETENTION}::interval`,
      ),
    logger,
  );
