import { isServed } from '../../shared/bus/call.ts';
import { pingBus } from '../../shared/bus/connect.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { contractList, webhook } from '../../shared/contract/index.ts';
import { cached } from '../../shared/lib/cached.ts';
import { runChecks } from '../../shared/lib/http.ts';
import type { GatewayEnvironment } from './environments.ts';

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
/** Probes of many watchers share one round of checks. */
const CHECK_MAX_AGE_MS = 500;
/** After this long one complete environment is enough: a sick test environment must not hold live back. */
const START_PATIENCE_MS = 120_000;

/** NATS and the services of one environment. Redis is never asked: without it calls go on. */
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

/** Payments do not wait for what tells of them: a gateway starts without it, and its own calls answer 503. */
const NOT_AWAITED: string = webhook.name;
const missingIn = (state: Record<string, 'up' | 'down'>): string[] =>
  Object.entries(state).flatMap(([part, up]) => (up === 'up' || part === NOT_AWAITED ? [] : [part]));

/**
 * Ready means: take my calls. It is reached once, when every environment has answered completely; from then on
 * a sick environment shows in the body and in its own calls' 503, and only draining takes readiness back.
 */
export const createReadiness = (environments: readonly GatewayEnvironment[]): Readiness => {
  let phase: 'starting' | 'ready' | 'draining' = 'starting';
  const startedAt = performance.now();
  const states = cached(
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
      const seen = await states('all');
      const complete = Object.values(seen).filter((state) => missingIn(state).length === 0).length;
      const patient = performance.now() - startedAt < START_PATIENCE_MS;
      if (phase === 'starting' && complete >= (patient ? environments.length : 1)) phase = 'ready';
      if (phase === 'ready') return seen;
      const missing = Object.entries(seen).flatMap(([name, state]) =>
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
