import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { askBuilds } from '../../shared/bus/builds.ts';
import { call } from '../../shared/bus/call.ts';
import { connectBus, drainBus } from '../../shared/bus/connect.ts';
import { askEach } from '../../shared/bus/each.ts';
import { askGauges } from '../../shared/bus/gauges.ts';
import { askProviders } from '../../shared/bus/providers.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import type { BusUser, InternalName, ServiceContract } from '../../shared/contract/service.ts';
import { Refusal } from '../../shared/lib/refusal.ts';
import { createLogger } from '../../shared/lib/telemetry/logger.ts';

export type Login = { environment: string; url: string; operator: string; seed: string };

/** A proof queries every provider of the chain. */
const TIMEOUT_MS = 20_000;
const CONNECT_MS = 5000;

/**
 * What a service of the release before refuses, because inputs are strict. It answers without it as
 * it did before: during an upgrade a look at such a service is not recorded.
 */
const ADDED = new Set(['inspection', 'target']);

const isUnknownThere = (error: unknown): boolean => {
  if (!(error instanceof ServiceError) || error.code !== 'validation_error') return false;
  const [, field = ''] = /^(\w+): unknown field/.exec(error.message) ?? [];
  return ADDED.has(field);
};

const withoutAdded = <T extends object>(input: T): T =>
  Object.fromEntries(Object.entries(input).filter(([field]) => !ADDED.has(field))) as T;

/**
 * Connects to the bus as the operator's own user.
 * @throws Refusal if the server is unavailable or refuses the login
 */
export const connectOperator = async ({ environment, url, operator, seed }: Login) => {
  const logger = createLogger('ops', 'silent');
  const caFile = process.env.TLS_CA_FILE;
  const options = { url, user: 'operator', operator, seed, caFile, logger } as const;
  const bus = await Promise.race([
    connectBus(options),
    sleep(CONNECT_MS, undefined, { ref: false }).then(() => {
      throw new Refusal(`NATS at ${new URL(url).host} is unavailable or refuses ${operator}`);
    }),
  ]).catch((error: unknown) => {
    throw error instanceof Refusal
      ? error
      : new Refusal(`NATS refuses ${operator}: ${(error as Error).message}`);
  });
  return {
    environment,
    /** The name that the services record. */
    name: operator,
    /**
     * @throws ServiceError the error of the service; service_unavailable if no service answers
     * @throws Refusal if the seed is that of another operator
     */
    call: <S extends ServiceContract, N extends InternalName<S>>(
      contract: S,
      name: N,
      input: z.infer<S['internal'][N]['input']>,
      timeoutMs = TIMEOUT_MS,
    ) =>
      call(bus, contract, name, input, { timeoutMs }).catch((error: unknown) => {
        if (isUnknownThere(error)) return call(bus, contract, name, withoutAdded(input), { timeoutMs });
        // The server lets a seed call in the name of its operator only.
        if ((error as { code?: string }).code !== 'PERMISSIONS_VIOLATION') throw error;
        throw new Refusal(`NATS does not let this seed act as ${operator}`);
      }),
    /** What the processes of some programs run. */
    builds: (programs: readonly BusUser[]) => askBuilds(bus, programs),
    /** The gauges of the processes of some programs, as a scrape would read them now. */
    gauges: (programs: readonly BusUser[]) => askGauges(bus, programs),
    /** What each replica of chain-submitter says of the providers of the chain. */
    providers: () => askProviders(bus),
    /** What every process of some programs answers to a question. */
    each: (programs: readonly BusUser[], question: string) => askEach(bus, programs, question),
    close: () => drainBus(bus),
  };
};
export type Operator = Awaited<ReturnType<typeof connectOperator>>;
