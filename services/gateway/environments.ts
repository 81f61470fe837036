import type { z } from 'zod';
import { call } from '../../shared/bus/call.ts';
import { type Bus, connectBus } from '../../shared/bus/connect.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { identity } from '../../shared/contract/index.ts';
import { subscribeLive } from '../../shared/events/consume.ts';
import { cached } from '../../shared/lib/cached.ts';
import type { Logger } from '../../shared/lib/logger.ts';
import type { EnvironmentConnection } from './config.ts';

/**
 * Well under the 2 s within which a revoked key or an ended session must be refused everywhere, its event lost or not, and
 * a frozen account or changed limits act, of which there is no event.
 */
export const CREDENTIAL_MAX_AGE_MS = 1000;

/** One environment as the gateway sees it. Only here do test and live stand side by side. */
export type GatewayEnvironment = {
  name: string;
  /** @throws ServiceError service_unavailable while its NATS was never reached. */
  bus: () => Bus;
  /** The bus once it was reached, for health and drain. */
  busIfConnected: () => Bus | undefined;
  /** Settles when its NATS was reached, or has refused this gateway. */
  reached: Promise<void>;
  findKey: (keyHash: string) => Promise<KnownKey | null>;
  findSession: (session: {
    accountId: string;
    sessionId: string;
  }) => Promise<z.infer<typeof identity.internal.findSession.output>>;
};

/** The key of a session in the cache: the very question that is asked. */
const sessionKey = ({ session_id, account_id }: SessionInput): string =>
  JSON.stringify({ session_id, account_id });

/** Who is behind a key, with how the account stands: as old as the cache at most. */
type KnownKey = NonNullable<z.infer<typeof identity.internal.findKey.output>>;
type SessionInput = z.infer<typeof identity.internal.findSession.input>;

/** Connects to an environment in the background: one whose NATS is away must not keep the others from starting. */
export const openEnvironment = (connection: EnvironmentConnection, logger: Logger): GatewayEnvironment => {
  const keys = cached(
    (key_hash): Promise<KnownKey | null> => call(bus(), identity, 'findKey', { key_hash }),
    { maxAgeMs: CREDENTIAL_MAX_AGE_MS },
  );
  const sessions = cached(
    (input) => call(bus(), identity, 'findSession', JSON.parse(input) as SessionInput),
    { maxAgeMs: CREDENTIAL_MAX_AGE_MS },
  );
  const log = logger.child({ environment: connection.name });
  let connected: Bus | undefined;
  const reached = connectBus({
    url: connection.nats_url,
    user: 'gateway',
    natsUser: connection.nats_user,
    password: connection.nats_password,
    logger: log,
  }).then(
    (bus) => {
      connected = bus;
      subscribeLive(bus, identity, {
        keysRevoked: ({ key_hashes }) => key_hashes.forEach(keys.invalidate),
        sessionRevoked: (session) => sessions.invalidate(sessionKey(session)),
      });
    },
    (error: unknown) => log.fatal({ err: error }, 'NATS refuses this gateway'),
  );

  const bus = (): Bus => {
    if (connected !== undefined) return connected;
    throw new ServiceError('service_unavailable', 'not available right now', {
      safe_action: 'retry_same_attempt',
      retryAfterSeconds: 1,
    });
  };
  return {
    name: connection.name,
    bus,
    busIfConnected: () => connected,
    reached,
    findKey: async (keyHash) => keys(keyHash),
    findSession: async ({ accountId, sessionId }) =>
      sessions(sessionKey({ session_id: sessionId, account_id: accountId })),
  };
};
