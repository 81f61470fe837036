import pg from 'pg';
import { SERVICE_NAMES, type ServiceName } from '../../../shared/contract/service.ts';
import { type Databases, distinctDatabases } from '../../../shared/db/databases.ts';
import { schemaName } from '../../../shared/db/names.ts';

const SCHEMAS = new Map(SERVICE_NAMES.map((service) => [schemaName(service), service]));
const NAMED = new RegExp(`(?<![\\w.])(${[...SCHEMAS.keys()].join('|')})\\.(?=\\w)`, 'g');

/** The services whose tables a statement names, as `settlement.settlements` outside of texts. */
const servicesIn = (statement: string): ServiceName[] => {
  const named = statement.replaceAll(/'[^']*'/g, '').matchAll(NAMED);
  return [...new Set([...named].map(([, schema]) => SCHEMAS.get(schema!)!))];
};

/**
 * Every database of an environment, for tools, benchmarks and tests with rights on all of them. A
 * statement runs where the tables that it names are. It cannot name tables of two databases.
 */
export type EveryDatabase = {
  // biome-ignore lint/suspicious/noExplicitAny: as of the driver
  query: <R extends pg.QueryResultRow = any>(text: string, values?: unknown[]) => Promise<pg.QueryResult<R>>;
  /** The rows of a statement from each database, which names no table of a service. */
  // biome-ignore lint/suspicious/noExplicitAny: as of the driver
  everywhere: <R extends pg.QueryResultRow = any>(text: string, values?: unknown[]) => Promise<R[]>;
  /** The pool of one service's database, for transactions and what names no table of a service. */
  of: (service: ServiceName) => pg.Pool;
  end: () => Promise<void>;
};

/** @param options of each pool */
export const connectDatabases = (
  databases: Databases,
  options: Omit<pg.PoolConfig, 'connectionString'> = {},
): EveryDatabase => {
  const pools = new Map<ServiceName, pg.Pool>();
  for (const { url, services } of distinctDatabases(databases)) {
    const pool = new pg.Pool({ ...options, connectionString: url });
    // The server may be stopped or restarted while the pool exists.
    pool.on('error', () => {});
    for (const service of services) pools.set(service, pool);
  }
  const distinct = () => [...new Set(pools.values())];
  const of = (service: ServiceName) => pools.get(service)!;
  return {
    query: async (text, values) => {
      const named = new Set(servicesIn(text).map(of));
      const pool = named.size === 0 && distinct().length === 1 ? distinct()[0] : [...named][0];
      if (pool === undefined || named.size > 1)
        throw new Error(`a statement runs in one database, and this names tables of ${named.size}: ${text}`);
      return pool.query(text, values);
    },
    everywhere: async (text, values) => {
      const results = await Promise.all(distinct().map((pool) => pool.query(text, values)));
      return results.flatMap(({ rows }) => rows);
    },
    of,
    end: async () => {
      await Promise.all(distinct().map((pool) => pool.end()));
    },
  };
};
