import { sql } from '../db/pool.ts';

/** A page of a list: `limit` rows before a place, or from the beginning if it is null. */
export type Page<Place = string> = { before: Place | null; limit: number };

/** `and <column> = <value>` for each filter that is set. */
export const matching = (filters: Record<string, string | undefined>) => {
  const set = Object.entries(filters).flatMap(([column, value]) =>
    value === undefined ? [] : [sql.fragment` and ${sql.identifier([column])} = ${value}`],
  );
  // An empty join is an error.
  return set.length === 0 ? sql.fragment`` : sql.join(set, sql.fragment``);
};

/**
 * The end of a list statement: the rows before the cursor, newest first, and one row more than the
 * limit.
 */
export const pageBy = (column: string, { before, limit }: Page) => {
  const id = sql.identifier([column]);
  return sql.fragment`${before === null ? sql.fragment`` : sql.fragment`and ${id} < ${before}`}
    order by ${id} desc limit ${limit + 1}`;
};
