import { setTimeout as sleep } from 'node:timers/promises';
import { createPool, createSqlTag, type DatabasePool, type Interceptor, SchemaValidationError } from 'slonik';
import { z } from 'zod';
import { hasCause } from '../lib/error-causes.ts';
import type { Logger } from '../lib/telemetry/logger.ts';
import { build } from '../lib/telemetry/version.ts';
import { splitDatabaseUrl } from '../lib/transport.ts';
import { isUnavailable } from '../lib/unavailable.ts';
import { createPreparedStatements } from './prepared.ts';
import { spans } from './spans.ts';

/** The types of rows: `void` for a query without a result, `id` for a column that is not read. */
const sqlTag = createSqlTag({
  typeAliases: { void: z.object({}), id: z.strictObject({ id: z.string() }) },
});

/** SQL is written as sql.type(rowSchema)`…` or sql.typeAlias('void')`…`. Every value is bound. */
export const sql = sqlTag;
export type Pool = DatabasePool;
/** A pool or a transaction, as a query function needs it. */
export type Db = Pick<
  DatabasePool,
  'any' | 'many' | 'maybeOne' | 'one' | 'query' | 'maybeOneFirst' | 'oneFirst' | 'anyFirst'
>;

/** Parses every row with the schema of the query, so that a changed column is detected at once. */
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
 * The same database, for a list: rows that another version has written, with values that this one
 * does not know, are left out and reported.
 * @param report gets the number of rows that a query has left out
 */
export const leavingOut = (db: Db, report: (rows: number) => void): Db => ({
  ...db,
  any: async ({ parser, ...query }, values) => {
    const rows = await db.any({ ...query, parser: z.unknown() }, values);
    const read = rows.map((row) => parser['~standard'].validate(row)).filter((each) => 'value' in each);
    if (read.length < rows.length) report(rows.length - read.length);
    return read.map(({ value }) => value);
  },
});

export type PoolOptions = {
  max: number;
  /** The program, as `pg_stat_activity` shows it with its version. */
  name?: string;
};

const withName = (url: string, name: string): string => {
  const named = new URL(url);
  if (!named.searchParams.has('application_name'))
    named.searchParams.set('application_name', `${name} ${build.version}`);
  return named.href;
};

/**
 * The pool of a service on its schema (search_path is set on its role). int8 is read as bigint,
 * timestamptz as epoch milliseconds. The pool never retries a statement: the caller decides whether
 * a statement may be repeated.
 */
export const connectPool = async (databaseUrl: string, { max, name }: PoolOptions): Promise<Pool> => {
  const { url, tls } = splitDatabaseUrl(databaseUrl);
  const pool = await createPool(name === undefined ? url : withName(url, name), {
    ...(tls && { ssl: tls }),
    maxPoolSize: max,
    minPoolSize: 1,
    idleTimeout: 60_000,
    connectionTimeout: 3_000,
    statementTimeout: 10_000,
    idleInTransactionSessionTimeout: 10_000,
    queryRetryLimit: 0,
    transactionRetryLimit: 0,
    // By default slonik sends DISCARD ALL after every use, which costs a round trip per query.
    // These sessions have no state to discard.
    resetConnection: async () => {},
    driverFactory: createPreparedStatements,
    interceptors: [spans, parseRows],
  });
  // The caller of a statement gets its error. Without a listener it would get what Node throws for
  // an event of an error that nobody hears.
  pool.on('error', () => {});
  return pool;
};

/** Resolves when Postgres answers. */
export const pingPool = (pool: Pool): Promise<unknown> => pool.query(sql.typeAlias('void')`select`);

const ANSWER_WITHIN_MS = 60_000;
const PAUSE_MS = 500;

/** The driver's errors without a code: after `connectionTimeout`, and if the connection ends. */
const NOT_CONNECTED = new Set(['timeout expired', 'Connection terminated unexpectedly']);
const isNotConnected = (error: unknown): boolean =>
  hasCause(error, ({ message }) => NOT_CONNECTED.has(message));

/**
 * Connects a service's pool, and waits for Postgres, as the bus waits for NATS: a busy machine or a
 * failover must not count as a failed start, which an engine or a cluster answers with growing
 * pauses.
 * @throws the last error after a minute, and at once an error that waiting does not mend
 */
export const openPool = async (url: string, options: PoolOptions, logger: Logger): Promise<Pool> => {
  const deadline = performance.now() + ANSWER_WITHIN_MS;
  for (;;) {
    try {
      // It opens a connection.
      return await connectPool(url, options);
    } catch (error) {
      if (!(isUnavailable(error) || isNotConnected(error)) || performance.now() > deadline) throw error;
      logger.warn({ err: error }, 'Postgres does not answer yet, trying again');
      await sleep(PAUSE_MS);
    }
  }
};
