import { z } from 'zod';
import { type KeptCalls, KeyTaken, underWay } from '../bus/idempotency.ts';
import { ServiceError } from '../contract/errors.ts';
import type { CallKey } from '../contract/idempotency.ts';
import type { Logger } from '../lib/logger.ts';
import { everyMs, type Periodic } from '../lib/periodic.ts';
import { type Db, type Pool, sql } from './pool.ts';

/**
 * The table `idempotency` of a service: its calls with an Idempotency-Key, for 24 hours. A handler keeps its call in the
 * commit that creates: `keepAnswer` where that commit is all there is to do, `keepBegun` and later `keepFinished` where
 * network calls follow. Without a key each of them does nothing.
 */

const KEPT_FOR = '24 hours';
/** No call takes longer: the gateway stops waiting after 30 s at most, and the handlers that begin a call after less. */
const LEASE = '30 seconds';

const Found = z.object({ same: z.boolean(), object_id: z.string().nullable(), answer: z.unknown() });

const isCall = ({ accountId, operation, keyHash }: CallKey) =>
  sql.fragment`account_id = ${accountId} and operation = ${operation}
    and key_hash = ${sql.binary(Buffer.from(keyHash))}`;

/** What `serve` looks calls up in. */
export const keptCalls = (pool: Pool): KeptCalls => ({
  find: async (key) => {
    const row = await pool.maybeOne(sql.type(Found)`
      select fingerprint = ${sql.binary(Buffer.from(key.fingerprint))} as same, object_id, answer
      from idempotency where ${isCall(key)} and created_at > app_now() - ${KEPT_FOR}::interval`);
    if (row === null) return null;
    const { same, ...known } = row;
    if (same) return known;
    throw new ServiceError(
      'idempotency_mismatch',
      'this Idempotency-Key was used with another request or by another credential',
    );
  },
});

/** A call with the same key that is not committed yet is waited for: one of the two transactions is undone. */
const keep = async (tx: Db, key: CallKey, objectId: string | null, answer: string | null): Promise<void> => {
  const { rowCount } = await tx.query(sql.typeAlias('void')`
    insert into idempotency as kept (account_id, operation, key_hash, fingerprint, object_id, answer, leased_until)
    values (${key.accountId}, ${key.operation}, ${sql.binary(Buffer.from(key.keyHash))},
      ${sql.binary(Buffer.from(key.fingerprint))}, ${objectId}, ${answer}::json,
      app_now() + ${LEASE}::interval)
    on conflict (account_id, operation, key_hash) do update set fingerprint = excluded.fingerprint,
      object_id = excluded.object_id, answer = excluded.answer, leased_until = excluded.leased_until,
      created_at = excluded.created_at
    where kept.created_at <= app_now() - ${KEPT_FOR}::interval
      or kept.answer is null and kept.object_id = ${key.unfinished}`);
  if (rowCount === 0) throw new KeyTaken();
};

/** One commit for what is created and for the call; what is a single statement without a key stays one. */
export const inOneCommit = <T>(
  pool: Pool,
  key: CallKey | undefined,
  work: (tx: Db) => Promise<T>,
): Promise<T> => (key === undefined ? work(pool) : pool.transaction(work));

/**
 * Keeps a call with its answer, within the transaction that creates.
 * @throws KeyTaken, which must undo the transaction: another call with the key was first
 */
export const keepAnswer = async (tx: Db, key: CallKey | undefined, answer: object): Promise<void> => {
  if (key !== undefined) await keep(tx, key, null, key.toKeep(answer));
};

/**
 * Keeps a call and what it is creating, within the transaction that creates; what was begun is this call's to finish.
 * @throws KeyTaken, which must undo the transaction
 */
export const keepBegun = async (tx: Db, key: CallKey | undefined, objectId: string): Promise<void> => {
  if (key !== undefined) await keep(tx, key, objectId, null);
};

/** Keeps the answer of a call that was begun. @throws KeyTaken when another has finished it meanwhile */
export const keepFinished = async (db: Db, key: CallKey | undefined, answer: object): Promise<void> => {
  if (key === undefined) return;
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update idempotency set answer = ${key.toKeep(answer)}::json where ${isCall(key)} and answer is null`);
  if (rowCount === 0) throw new KeyTaken();
};

/**
 * Takes over what an earlier call has begun and left, once that call cannot be at work any more.
 * @throws ServiceError conflict with a Retry-After before
 */
export const takeOverCall = async (db: Db, key: CallKey): Promise<void> => {
  const { rowCount } = await db.query(sql.typeAlias('void')`
    update idempotency set leased_until = app_now() + ${LEASE}::interval
    where ${isCall(key)} and answer is null and object_id = ${key.unfinished} and leased_until <= app_now()`);
  if (rowCount === 0) throw underWay();
};

/** Forgets a call that was begun and came to nothing: its repeat begins anew. */
export const forgetBegun = async (db: Db, key: CallKey | undefined, objectId: string): Promise<void> => {
  if (key === undefined) return;
  await db.query(sql.typeAlias('void')`
    delete from idempotency where ${isCall(key)} and answer is null and object_id = ${objectId}`);
};

/** Removes calls that are older than a day. Correctness never waits for it. */
export const startPurgeCalls = ({ pool, logger }: { pool: Pool; logger: Logger }): Periodic =>
  everyMs(
    60_000,
    'purgeCalls',
    () =>
      pool.query(
        sql.typeAlias('void')`delete from idempotency where created_at <= app_now() - ${KEPT_FOR}::interval`,
      ),
    logger,
  );
