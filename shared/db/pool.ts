import { createPool, createSqlTag, type DatabasePool, type Interceptor, SchemaValidationError } from 'slonik';
import { z } from 'zod';
import { createPreparedStatements } from './prepared.ts';
import { spans } from './spans.ts';

/** Rows of a query without a result, and of one whose single column nobody reads. */
const sqlTag = createSqlTag({
  typeAliases: { void: z.object({}), id: z.strictObject({ id: z.string() }) },
});

/**
 * SQL is written as SQL: sql.type(rowSchema)`…` or sql.typeAlias('void')`…`; every value is bound.
 */
export const sql = sqlTag;
export type Pool = DatabasePool;
/** A pool or a transaction: what a query function needs. */
export type Db = Pick<
  DatabasePool,
  'any' | 'many' | 'maybeOne' | 'one' | 'query' | 'maybeOneFirst' | 'oneFirst' | 'anyFirst'
>;

/**
 * Parses every row by the query's schema, so that a column which drifted is found at the boundary.
 */
const parseRows: Interceptor = {
  name: 'parse-rows',
  transformRow: ({ resultParser }, query, row) => {
    if (resultParser === undefined) return row;
    const result = resultParser['~standard'].validate(row);
    if (result instanceof Promise) throw new TypeError('row schemas are synchronous');
    if (result.issues !== undefined) throw new SchemaValidationError(query, row, result.issues);
    return result.value as typeof row;
  },
};

/**
 * The pool of one service on its own schema (search_path is set on its role). int8 arrives as
 * bigint, timestamptz as epoch milliseconds. No statement is ever retried by the pool: whether a
 * money statement may be repeated is decided where it stands.
 */
export const connectPool = (url: string, { max }: { max: number }): Promise<Pool> =>
  createPool(url, {
    maxPoolSize: max,
    minPoolSize: 1,
    idleTimeout: 60_000,
    connectionTimeout: 3_000,
    statementTimeout: 10_000,
    idleInTransactionSessionTimeout: 10_000,
    queryRetryLimit: 0,
    transactionRetryLimit: 0,
    // slonik sends DISCARD ALL after every use, a round trip per query; our sessions keep no state
    // to discard.
    resetConnection: async () => {},
    driverFactory: createPreparedStatements,
    interceptors: [spans, parseRows],
  });

/** Resolves when Postgres answers. */
export const pingPool = (pool: Pool): Promise<unknown> => pool.query(sql.typeAlias('void')`select`);
