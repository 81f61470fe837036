import type { z } from 'zod';
import { answerBuilds } from '../../../shared/bus/builds.ts';
import { call } from '../../../shared/bus/call.ts';
import { type Bus, connectBus } from '../../../shared/bus/connect.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { identity } from '../../../shared/contract/index.ts';
import { subscribeLive } from '../../../shared/events/consume.ts';
import { cachedMany } from '../../../shared/lib/cached-many.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';

/**
 * How long the gateway caches the answers of identity about a credential. A revoked key or session
 * must be refused everywhere within 2 s, even if its event is lost. A frozen account and changed
 * limits have no event and must take effect in the same time.
 */
export const CREDENTIAL_MAX_AGE_MS = 1000;
/** A credential that was used within this time is read again ahead, with all others. */
const REFRESH_FOR_MS = 5000;

/** How to reach the NATS of an environment. */
type Connection = { name: string; nats_url: string; nats_nkey_seed: string };

/** One environment as the gateway uses it. Only the gateway has access to both test and live. */
export type GatewayEnvironment = {
  name: string;
  /** @throws ServiceError service_unavailable until the first connection to its NATS */
  bus: () => Bus;
  /** The bus after the first connection, for health checks and the drain. */
  busIfConnected: () => Bus | undefined;
  /**
   * Resolves after the first connection to its NATS, or after its NATS has refused this gateway.
   */
  reached: Promise<void>;
  findKey: (keyHash: string) => Promise<FoundKey | null>;
  findSession: (session: {
    accountId: string;
    sessionId: string;
  }) => Promise<z.infer<typeof identity.internal.findSessions.output>[number]>;
  /** False also while identity does not answer. */
  isKnownBrowser: (browser: z.infer<typeof identity.internal.isKnownBrowser.input>) => Promise<boolean>;
};

type SessionInput = z.infer<typeof identity.internal.findSessions.input>['sessions'][number];
/**
 * The principal of a key with the status of its account, or why the key is refused, at most as old
 * as the cache allows.
 */
export type FoundKey = NonNullable<z.infer<typeof identity.internal.findKeys.output>[number]>;

/**
 * Connects to an environment in the background, so that an unavailable NATS does not keep the other
 * environments from starting.
 * @param caFile the authority of a `tls://` server
 */
export const openEnvironment = (
  connection: Connection,
  logger: Logger,
  caFile?: string,
): GatewayEnvironment => {
  const timing = { maxAgeMs: CREDENTIAL_MAX_AGE_MS, refreshForMs: REFRESH_FOR_MS };
  const keys = cachedMany(
    (key_hashes: readonly string[]): Promise<(FoundKey | null)[]> =>
      call(bus(), identity, 'findKeys', { key_hashes: [...key_hashes] }),
    // Anybody can send keys that do not exist.
    { keyOf: (key_hash) => key_hash, isRefreshed: (found) => found !== null, ...timing },
  );
  const sessions = cachedMany(
    (asked: readonly SessionInput[]) => call(bus(), identity, 'findSessions', { sessions: [...asked] }),
    {
      keyOf: ({ session_id, account_id }) => `${account_id}/${session_id}`,
      isRefreshed: ({ open }) => open,
      ...timing,
    },
  );
  const log = logger.child({ environment: connection.name });
  let connected: Bus | undefined;
  const reached = connectBus({
    url: connection.nats_url,
    user: 'gateway',
    seed: connection.nats_nkey_seed,
    caFile,
    logger: log,
  }).then(
    (bus) => {
      connected = bus;
      answerBuilds(bus);
      subscribeLive(bus, identity, {
        keysRevoked: ({ key_hashes }) => key_hashes.forEach(keys.invalidate),
        sessionRevoked: sessions.invalidate,
      });
    },
    (error: unknown) => log.fatal({ err: error }, 'NATS refused the connection of this gateway'),
  );

  const bus = (): Bus => {
    if (connected !== undefined) return connected;
    throw new ServiceError(
      'service_unavailable',
      'the environment is unavailable right now; it is safe to repeat the call with the same ids',
      {
        safe_action: 'retry_same_attempt',
        retryAfterSeconds: 1,
      },
    );
  };
  return {
    name: connection.name,
    bus,
    busIfConnected: () => connected,
    reached,
    findKey: async (keyHash) => keys(keyHash),
    findSession: async ({ accountId, sessionId }) =>
      sessions({ session_id: sessionId, account_id: accountId }),
    isKnownBrowser: async (browser) => {
      try {
        return (await call(bus(), identity, 'isKnownBrowser', browser)).known;
      } catch (error) {
        log.warn({ err: error }, 'a browser is counted as a stranger, because identity does not answer');
        return false;
      }
    },
  };
};
