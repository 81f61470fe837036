import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Logger } from '../lib/telemetry/logger.ts';
import { count } from '../lib/telemetry/metrics.ts';
import { within } from '../lib/within.ts';
import { batched } from './batched.ts';
import { connectPool, type Db, type Pool, type PoolOptions, sql } from './pool.ts';

/** A list or a sum that decides nothing about money. It may be carried out twice. */
export type Reads = <T>(read: (db: Db) => Promise<T>) => Promise<T>;

/** All reads by one database. */
export const readsOf =
  (db: Db): Reads =>
  (read) =>
    read(db);

/** How long a read waits until the replica has everything that was committed before it. */
const MAX_LAG_MS = 250;
const PAUSE_MS = 5;
/** An answer that takes longer is asked of the primary too. */
const ANSWER_WITHIN_MS = 2_000;
/** For how long a replica that is behind, or does not answer, is asked nothing. */
const AVOIDED_MS = { behind: 1_000, failed: 5_000 };

const noAnswer = () => new Error(`no answer within ${ANSWER_WITHIN_MS} ms`);

const Position = z.object({ position: z.bigint() });
const Reached = z.object({ reached: z.boolean() });

class BehindError extends Error {}

/**
 * Everything that was committed before, as a byte of the write-ahead log. Calls of one moment share
 * the question.
 */
const committedOf = (primary: Pool) => {
  const read = batched(async (calls: readonly null[]) => {
    const { position } = await primary.one(
      sql.type(Position)`select pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint as position`,
    );
    return calls.map(() => position);
  });
  return () => read(null);
};

const reaches = async (db: Db, position: bigint): Promise<void> => {
  const deadline = performance.now() + MAX_LAG_MS;
  for (;;) {
    const { reached } = await db.one(sql.type(Reached)`
      select pg_is_in_recovery() and pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0') >= ${position}::bigint as reached`);
    if (reached) return;
    if (performance.now() > deadline) throw new BehindError(`the replica is ${MAX_LAG_MS} ms behind`);
    await sleep(PAUSE_MS);
  }
};

/**
 * Reads that a streaming replica answers, if there is one (docs/adr/0086-read-replicas.md). The
 * primary names what it has committed, and the replica answers on the connection on which it has
 * shown that it has all of that. So an answer is as fresh as one of the primary, whoever wrote. A
 * replica that is behind, or does not answer, costs nothing but time: the primary answers.
 * @param replicaUrl of one replica, or of an address that leads to any of several
 */
export const createReads = (
  primary: Pool,
  { replicaUrl, logger, ...options }: PoolOptions & { replicaUrl: string | undefined; logger: Logger },
): { reads: Reads; end: () => Promise<void> } => {
  if (replicaUrl === undefined) return { reads: readsOf(primary), end: async () => {} };
  const committed = committedOf(primary);
  let replica: Promise<Pool> | null = null;
  let avoidedUntil = 0;

  const connected = async (): Promise<Pool> => {
    replica ??= connectPool(replicaUrl, options);
    try {
      return await replica;
    } catch (error) {
      replica = null;
      throw error;
    }
  };

  const ofReplica = async <T>(read: (db: Db) => Promise<T>, position: bigint): Promise<T> =>
    (await connected()).connect(async (connection) => {
      await reaches(connection, position);
      return read(connection);
    });

  const reads: Reads = async (read) => {
    if (performance.now() < avoidedUntil) {
      count('quittance_replica_reads_total', 1, { outcome: 'avoided' });
      return read(primary);
    }
    // Without the primary nobody knows what an answer lacks, which is no fault of the replica.
    const position = await committed();
    try {
      const answer = await within(ANSWER_WITHIN_MS, ofReplica(read, position), noAnswer);
      count('quittance_replica_reads_total', 1, { outcome: 'answered' });
      return answer;
    } catch (error) {
      const outcome = error instanceof BehindError ? 'behind' : 'failed';
      avoidedUntil = performance.now() + AVOIDED_MS[outcome];
      count('quittance_replica_reads_total', 1, { outcome });
      logger.warn({ err: error }, 'the read replica has not answered, the primary does');
      return read(primary);
    }
  };
  return {
    reads,
    end: async () => {
      await (await replica?.catch(() => undefined))?.end();
    },
  };
};
