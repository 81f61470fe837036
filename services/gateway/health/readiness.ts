import { isServed } from '../../../shared/bus/call.ts';
import { pingBus } from '../../../shared/bus/connect.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { contractList, webhook } from '../../../shared/contract/index.ts';
import { cachedValue } from '../../../shared/lib/cached.ts';
import { runChecks } from '../../../shared/lib/http.ts';
import type { GatewayEnvironment } from '../environments/environment.ts';

type States = Record<string, Record<string, 'up' | 'down'>>;

export type Readiness = {
  /** @throws ServiceError service_unavailable while starting or draining. */
  check: () => Promise<States>;
  isDraining: () => boolean;
  drain: () => void;
};

const SERVED = contractList.filter(
  ({ name, operations }) => name !== 'gateway' && Object.keys(operations).length > 0,
);
const CHECK_TIMEOUT_MS = 1500;
/** Probes of several monitors share one round of checks. */
const CHECK_MAX_AGE_MS = 500;
/**
 * After this time one complete environment is enough: a broken test environment must not delay
 * live.
 */
const START_PATIENCE_MS = 120_000;

/**
 * Checks NATS and the services of one environment. Redis is not checked, because calls go on
 * without it.
 */
const stateOf = (environment: GatewayEnvironment): Promise<Record<string, 'up' | 'down'>> =>
  runChecks({
    nats: async () => pingBus(environment.bus()),
    ...Object.fromEntries(
      SERVED.map((contract) => [
        contract.name,
        async () => {
          if (!(await isServed(environment.bus(), contract, CHECK_TIMEOUT_MS))) throw new Error('not served');
        },
      ]),
    ),
  });

/**
 * Payments do not wait for webhooks: the gateway starts without the service, and its calls answer
 * 503.
 */
const NOT_REQUIRED: string = webhook.name;
const missingIn = (state: Record<string, 'up' | 'down'>): string[] =>
  Object.entries(state).flatMap(([part, up]) => (up === 'up' || part === NOT_REQUIRED ? [] : [part]));

/**
 * Readiness means that load balancers may send calls. It is reached once, when every environment
 * has answered completely. After that, a broken environment shows in the body and in the 503 of its
 * own calls, and only draining ends readiness.
 */
export const createReadiness = (environments: readonly GatewayEnvironment[]): Readiness => {
  let phase: 'starting' | 'ready' | 'draining' = 'starting';
  const startedAt = performance.now();
  const states = cachedValue(
    async (): Promise<States> =>
      Object.fromEntries(
        await Promise.all(environments.map(async (each) => [each.name, await stateOf(each)] as const)),
      ),
    { maxAgeMs: CHECK_MAX_AGE_MS },
  );
  const refuse = (message: string) =>
    new ServiceError('service_unavailable', message, { retryAfterSeconds: 1 });

  return {
    check: async () => {
      if (phase === 'draining') throw refuse('draining');
      const current = await states();
      const complete = Object.values(current).filter((state) => missingIn(state).length === 0).length;
      const patient = performance.now() - startedAt < START_PATIENCE_MS;
      if (phase === 'starting' && complete >= (patient ? environments.length : 1)) phase = 'ready';
      if (phase === 'ready') return current;
      const missing = Object.entries(current).flatMap(([name, state]) =>
        missingIn(state).map((part) => `${part} of ${name}`),
      );
      throw refuse(`starting: waiting for ${missing.join(', ')}`);
    },
    isDraining: () => phase === 'draining',
    drain: () => {
      phase = 'draining';
    },
  };
};
