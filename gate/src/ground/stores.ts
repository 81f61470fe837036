import { memoryStore, type PaywallStore } from '../../../sdk/src/paywall/main.ts';
import { type FreeCounters, memoryCounters, sharedCounters } from './free-counters.ts';

/** The state that gates share: what is paid and delivered, and the quotes. */
export type GateStore = {
  store: PaywallStore;
  counters: FreeCounters;
  /** False: it does not answer. */
  isReady: () => Promise<boolean>;
  close: () => Promise<void>;
};

/** A key that no payment has. */
const PROBE = 'gate:ready';

const readable = (store: PaywallStore) => async (): Promise<boolean> => {
  try {
    await store.get(PROBE);
    return true;
  } catch {
    return false;
  }
};

const openRedis = async (url: string): Promise<GateStore> => {
  const { redisStore } = await import('../../../examples/redis-store.ts');
  const store = redisStore(url);
  return {
    store,
    counters: sharedCounters(store),
    isReady: readable(store),
    close: async () => store.close(),
  };
};

/** How often rows that have ended are deleted. */
const CLEAN_MS = 60_000;

const openPostgres = async (url: string, onError: (error: unknown) => void): Promise<GateStore> => {
  const [{ Pool }, { postgresStore, TABLE }] = await Promise.all([
    import('pg'),
    import('../../../examples/postgres-store.ts'),
  ]);
  const pool = new Pool({ connectionString: url });
  pool.on('error', onError);
  await pool.query(TABLE);
  const clean = () => pool.query('delete from paywall where ends_at <= now()').catch(onError);
  const timer = setInterval(clean, CLEAN_MS);
  timer.unref();
  const store = postgresStore(pool);
  return {
    store,
    counters: sharedCounters(store),
    isReady: readable(store),
    close: async () => {
      clearInterval(timer);
      await pool.end();
    },
  };
};

/**
 * Opens the store of an address. The drivers are loaded only if they are used.
 * @param url null: the memory of this process
 */
export const openStore = async (
  url: string | null,
  onError: (error: unknown) => void,
): Promise<GateStore> => {
  if (url === null)
    return {
      store: memoryStore(),
      counters: memoryCounters(),
      isReady: async () => true,
      close: async () => {},
    };
  return url.startsWith('redis') ? openRedis(url) : openPostgres(url, onError);
};
