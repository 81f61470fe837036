import pg from 'pg';
import type { Databases } from '../db/databases.ts';

/** What a job has done with a copy. */
type BackupRun = {
  kind: 'backup' | 'drill';
  /** The name of the copy; null if there was none. */
  copy: string | null;
  /** The moment of its content. */
  takenAt: string | null;
  rows: number | null;
  seconds: number;
  /** What was wrong; null if nothing was. */
  problem: string | null;
};

const KEPT = "interval '400 days'";

/**
 * Records a run where settlement reads it for the metrics.
 * @param databases an owner's or a superuser's
 */
const recordRun = async (databases: Databases, run: BackupRun): Promise<void> => {
  const client = new pg.Client({ connectionString: databases.settlement });
  await client.connect();
  try {
    const { kind, copy, takenAt, rows, seconds, problem } = run;
    await client.query(
      `insert into settlement.backup_runs (kind, ok, copy, taken_at, rows, seconds, problem)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [kind, problem === null, copy, takenAt, rows, seconds, problem],
    );
    await client.query(`delete from settlement.backup_runs where finished_at < now() - ${KEPT}`);
  } finally {
    await client.end();
  }
};

/** Runs a job's work, and records how it went. An error is thrown again after that. */
export const recorded = async <T extends { copy: string; taken_at: string; rows: number }>(
  databases: Databases,
  kind: BackupRun['kind'],
  work: () => Promise<T>,
): Promise<T> => {
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  try {
    const done = await work();
    const { copy, taken_at: takenAt, rows } = done;
    await recordRun(databases, { kind, copy, takenAt, rows, seconds: seconds(), problem: null });
    return done;
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const failed = { kind, copy: null, takenAt: null, rows: null, seconds: seconds(), problem };
    // The database may be what has failed. The error of the work says more.
    await recordRun(databases, failed).catch(() => {});
    throw error;
  }
};
