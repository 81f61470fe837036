import path from 'node:path';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
} from '../../../deploy/local/seed/actors.ts';
import { createApi } from '../../../deploy/local/seed/api.ts';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import { createClient } from '../../../sdk/src/main.ts';
import { payingFetch } from '../../../sdk/src/pay/main.ts';
import { waitFor } from '../base/wait.ts';
import { packages } from '../packages/packages.ts';
import { chainOf } from '../servers/chain.ts';
import { runningStack } from '../servers/stack.ts';
import { type GateProcess, startGateProcess } from './gate-process.ts';

/** Gates as they are published, of one vendor of the common stack, and their buyers. */

export const UPSTREAM_SECRET = 'what the upstream checks, at least 32';
const OFFER_SECRET = 'the secret of offers, at least 32';

export type RunningGate = GateProcess & { url: string };

export const createGateStack = async () => {
  const stack = runningStack();
  const api = createApi(stack.gateway_url);
  const chain = chainOf(stack.environments.test!);
  // A payment of another client needs the token account of its payee.
  const { wallet: payout } = await createConsumer(api, stack, { balance: 1n, allowance: 0n });
  const vendor = await createVendor(api, stack, { payout });
  const ofVendor = createClient({ baseUrl: stack.gateway_url, credential: vendor.apiKey });
  const program = path.join((await packages()).files('gate'), 'dist/quittance-gate.js');
  const ports = createPortPicker();

  return {
    port: () => ports.any(),
    /** A wallet with 100 USDC, and a fetch that pays from it. */
    newBuyer: async () => {
      const consumer: Consumer = await createConsumer(api, stack);
      const { api_key: delegateKey } = await createDelegate(api, consumer, { daily: '90000000' });
      const pay = payingFetch(fetch, { baseUrl: stack.gateway_url, delegateKey, maxAmount: '$2' });
      const balance = () => chain.balance(consumer.wallet.publicKey);
      return {
        pay,
        settings: {
          rpcUrl: stack.environments.test!.rpc_url,
          secretKey: Buffer.from(consumer.wallet.secretKey).toString('base64'),
        },
        /** What a run costs the wallet, once that is at least `expected`. */
        spentBy: async (run: () => Promise<unknown>, expected: bigint): Promise<bigint> => {
          const before = await balance();
          await run();
          return waitFor(
            async () => before - (await balance()),
            (micro) => micro >= expected,
          );
        },
      };
    },
    /** What the vendor sees of a settlement, once it has this status. */
    settled: (settlement_id: string, status: string) =>
      waitFor(
        () => ofVendor.settlement.verify({ settlement_id }),
        (seen) => seen.status === status,
      ),
    /**
     * Starts a gate at this port.
     * @param publicUrl what buyers type, if another proxy asks the gate
     */
    startGate: async (settings: object, port: number, publicUrl?: string): Promise<RunningGate> => {
      const url = `http://127.0.0.1:${port}`;
      const places = { listen: port, operations: await ports.any(), public_url: publicUrl ?? url };
      const gate = await startGateProcess(
        [program],
        { ...places, ...settings, dialects: ['x402', 'mpp'] },
        {
          ...{ QUITTANCE_URL: stack.gateway_url, SERVICE_KEY: vendor.apiKey, SERVICE_ID: vendor.serviceId },
          ...{ STORE_URL: stack.redis_url, OFFER_SECRET, UPSTREAM_SECRET },
        },
      );
      return { ...gate, url };
    },
  };
};
export type GateStack = Awaited<ReturnType<typeof createGateStack>>;
