import { waitFor } from '../../support/base/wait.ts';
import type { Access } from '../access.ts';
import { inParallel } from '../recovery.ts';

const HANDS = 16;
/** Longer than a published row stays: the sweep publishes it after 1 s. */
const LEAVES_WITHIN_MS = 10_000;

/**
 * The rows of every outbox and every quarantine. A periodic job may publish an event while they are
 * read, for instance of a settlement that has expired, so a table that is not empty is read again.
 */
export const readLeftRows = async ({
  query,
}: Pick<Access, 'query'>): Promise<{ table: string; rows: number }[]> => {
  const tables = await query<{ schema: string; name: string }>(`
    select table_schema as schema, table_name as name from information_schema.tables
    where table_name in ('outbox', 'quarantine') order by 1, 2`);
  return inParallel(tables, HANDS, async ({ schema, name }) => {
    let rows = 0;
    const readAgain = async () => {
      rows = (await query<{ n: number }>(`select count(*)::int as n from ${schema}.${name}`))[0]!.n;
      return rows;
    };
    const isEmpty = (count: number) => count === 0;
    await waitFor(readAgain, isEmpty, LEAVES_WITHIN_MS).catch((error: unknown) => {
      // A table that stays filled is a finding. A database that does not answer is an error.
      if (rows === 0) throw error;
    });
    return { table: `${schema}.${name}`, rows };
  });
};
