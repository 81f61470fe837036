import { sql } from '../db/pool.ts';

/**
 * Which part of a list is asked for: `limit` rows before a place, from the beginning where it is
 * null.
 */
export type Page<Place = string> = { before: Place | null; limit: number };

/** `and <column> = <value>` for every filter that is set. */
export const matching = (filters: Record<string, string | undefined>) => {
  const set = Object.entries(filters).flatMap(([column, value]) =>
    value === undefined ? [] : [sql.fragment` and ${sql.identifier([column])} = ${value}`],
  );
  // A join of nothing is an error.
  return set.length === 0 ? sql.fragment`` : sql.join(set, sql.fragment``);
};

/**
 * The end of a list statement: rows before the cursor, newest first, and one row more than the
 * limit.
 */
export const pageBy = (column: string, { before, limit }: Page) => {
  const id = sql.identifier([column]);
  return sql.fragment`${before === null ? sql.fragment`` : sql.fragment`and ${id} < ${before}`}
    order by ${id} desc limit ${limit + 1}`;
};
