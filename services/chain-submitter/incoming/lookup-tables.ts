import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { readLookupTable } from '../chain/lookup-table.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { LookupTables } from '../transactions/message.ts';
import { refuse } from './refusal.ts';

/**
 * The lookup tables of payments of other clients. What was checked is what the chain will load:
 *
 * - A table only grows. An address in it never changes, and its own address is never used again
 *   after it was closed, because it is derived from a slot that is too old by then.
 * - It is read as of the finalized block of every provider, so that no fork takes back what is in
 *   it, and none can invent it alone.
 * - A deactivated table is refused. One that is deactivated later can be loaded for 512 more slots,
 *   longer than the 150 blocks in which our bytes may be included and the time it is cached for.
 */

const CACHED_MS = 60_000;
const MAX_CACHED = 1000;

type Deps = { rpc: Pick<RpcPool, 'every'>; logger: Logger };

/** A table as a provider that lags has it is the beginning of what the others have. */
const shortestOf = (views: readonly string[][]): string[] | null => {
  const shortest = views.reduce((least, view) => (view.length < least.length ? view : least));
  return views.every((view) => shortest.every((address, index) => view[index] === address)) ? shortest : null;
};

const UNUSABLE =
  'a lookup table is missing, deactivated, or newer than the finalized block; sign without it, or later';

/** Reads the lookup tables that messages name. */
export const createLookupTables = ({ rpc, logger }: Deps) => {
  const known = new LRUCache<string, string[]>({ max: MAX_CACHED, ttl: CACHED_MS, ttlResolution: 0 });

  const read = async (tables: readonly string[]): Promise<void> => {
    const answers = await readForCaller(
      rpc.every((provider) => provider.accounts(tables, undefined, 'finalized')),
    );
    for (const [index, table] of tables.entries()) {
      const views = answers.map(({ value }) => {
        const account = value[index] ?? null;
        const data = account && Buffer.from(account.data[0], 'base64');
        return readLookupTable(account && { ...account, data: data! }) ?? [];
      });
      const addresses = shortestOf(views);
      if (addresses === null) {
        count('quittance_anomalies_total', 1, { kind: 'providers_disagree' });
        logger.error({ table, views }, 'providers disagree about a lookup table, nothing is signed');
        throw new ServiceError('service_unavailable', 'the lookup tables cannot be read; repeat the call', {
          money_moved: 'no',
          retryAfterSeconds: 5,
        });
      }
      known.set(table, addresses);
    }
  };

  return {
    /**
     * The addresses of tables. A call to each provider, unless all are known.
     * @param needed the highest place that is needed of each
     * @throws PaymentRefusal; ServiceError service_unavailable when a provider does not answer
     */
    resolve: async (needed: ReadonlyMap<string, number>): Promise<LookupTables> => {
      const has = (table: string): boolean => (known.get(table)?.length ?? 0) > needed.get(table)!;
      const unknown = [...needed.keys()].filter((table) => !has(table));
      if (unknown.length > 0) await read(unknown);
      if (![...needed.keys()].every(has)) refuse('transaction_could_not_be_decoded', UNUSABLE);
      return new Map([...needed.keys()].map((table) => [table, known.get(table)!]));
    },
  };
};
export type IncomingTables = ReturnType<typeof createLookupTables>;
