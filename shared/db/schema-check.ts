import { z } from 'zod';
import type { ServiceName } from '../contract/service.ts';
import { hasErrorCode } from '../lib/error-causes.ts';
import { type Applied, unfitFor } from './migrations.ts';
import { type Pool, sql } from './pool.ts';

const Row = z.strictObject({ name: z.string(), checksum: z.string(), release: z.string() });

/** Without the table, one of its columns, or the right to read it, this build has not migrated. */
const NO_RECORD = /^(42P01|42703|42501)$/;

/** @returns null: the schema has no record of its migrations */
const appliedIn = async (pool: Pool): Promise<readonly Applied[] | null> => {
  try {
    return await pool.any(sql.type(Row)`select name, checksum, release from migrations`);
  } catch (error) {
    if (hasErrorCode(error, NO_RECORD)) return null;
    throw error;
  }
};

/**
 * Compares the schema of a service with what its build needs.
 * @returns why the service must not run on it, in one line
 */
export const unfitSchema = async (pool: Pool, service: ServiceName): Promise<string | undefined> =>
  unfitFor(service, await appliedIn(pool));
