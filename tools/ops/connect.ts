import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { call } from '../../shared/bus/call.ts';
import { connectBus, drainBus } from '../../shared/bus/connect.ts';
import type { InternalName, ServiceContract } from '../../shared/contract/service.ts';
import { createLogger } from '../../shared/lib/logger.ts';
import { Refusal } from './refusal.ts';

export type Login = { environment: string; url: string; user: string; password: string };

/** Proofs ask every provider of the chain. */
const TIMEOUT_MS = 20_000;
const CONNECT_MS = 5000;

/**
 * The bus as the operator's user.
 * @throws Refusal when the server is away or refuses the login
 */
export const connectOperator = async ({ environment, url, user, password }: Login) => {
  const logger = createLogger('ops', 'silent');
  const options = { url, user: 'operator', natsUser: user, password, logger } as const;
  const bus = await Promise.race([
    connectBus(options),
    sleep(CONNECT_MS, undefined, { ref: false }).then(() => {
      throw new Refusal(`NATS at ${new URL(url).host} does not let ${user} in, or is away`);
    }),
  ]).catch((error: unknown) => {
    throw error instanceof Refusal ? error : new Refusal(`NATS refuses ${user}: ${(error as Error).message}`);
  });
  return {
    environment,
    /** @throws ServiceError what the service answers; service_unavailable when nobody does */
    call: <S extends ServiceContract, N extends InternalName<S>>(
      contract: S,
      name: N,
      input: z.infer<S['internal'][N]['input']>,
    ) => call(bus, contract, name, input, { timeoutMs: TIMEOUT_MS }),
    close: () => drainBus(bus),
  };
};
export type Operator = Awaited<ReturnType<typeof connectOperator>>;
