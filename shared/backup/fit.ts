import { statfsSync } from 'node:fs';
import type { Databases } from '../db/databases.ts';
import { Refusal } from '../lib/refusal.ts';
import { type Connected, withDatabases } from './database.ts';
import { SEEN_IN_ORDER } from './dump.ts';

/**
 * Bytes of the tables that one connection copies in a second, and bytes of a copy for each of them:
 * measured with random tokens, which compress least (docs/operations.md, Backup).
 */
const BYTES_PER_SECOND = 26_000_000;
const COPIED_PART = 0.65;

const bytesOf = async ({ client, schemas }: Connected): Promise<number> => {
  const { rows } = await client.query<{ bytes: string }>(
    `select coalesce(sum(pg_table_size(format('%I.%I', schemaname, tablename)::regclass)), 0) as bytes
     from pg_tables where schemaname = any($1)`,
    [schemas],
  );
  return Number(rows[0]!.bytes);
};

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

/** What a copy of these tables needs. Databases are copied beside one another. */
const estimate = (bytes: readonly number[]): { seconds: number; bytes: number } => ({
  seconds: Math.max(0, ...bytes) / BYTES_PER_SECOND,
  bytes: bytes.reduce((sum, each) => sum + each, 0) * COPIED_PART,
});

/**
 * Refuses a copy that would not be finished in its time or would not fit into its folder, before it
 * holds back the vacuum for hours.
 * @param deadlineSeconds null: there is none
 * @throws Refusal
 */
export const refuseTooLarge = async (
  databases: Databases,
  folder: string,
  deadlineSeconds: number | null,
): Promise<void> => {
  const sizes = await withDatabases(databases, SEEN_IN_ORDER, (all) => Promise.all(all.map(bytesOf)));
  const needed = estimate(sizes);
  const instead = 'archive the log of a database of this size instead (docs/operations.md, Backup)';
  if (deadlineSeconds !== null && needed.seconds > deadlineSeconds)
    throw new Refusal(
      `a copy would take about ${Math.round(needed.seconds / 60)} minutes, and has ${Math.round(deadlineSeconds / 60)}: ${instead}`,
    );
  const { bavail, bsize } = statfsSync(folder);
  if (needed.bytes > bavail * bsize)
    throw new Refusal(
      `a copy would have about ${gigabytes(needed.bytes)}, and ${folder} has ${gigabytes(bavail * bsize)} left: ${instead}, or enlarge the volume`,
    );
};
