import path from 'node:path';
import { createConsumer, createDelegate, createVendor } from '../../../deploy/local/seed/actors.ts';
import { createApi, must, patientApi } from '../../../deploy/local/seed/api.ts';
import { payingFetch } from '../../../sdk/src/pay/main.ts';
import { interopStack } from '../../support/others/interop-stack.ts';
import { atOnce } from '../../support/servers/stack.ts';
import { untilShown } from '../checks/shown-once.ts';
import { createFeePayer } from '../fee-payer.ts';
import type { Harness } from '../harness.ts';
import { type Client, createMppClient, createX402Client } from './buyers.ts';
import { DIALECTS, type Log } from './log.ts';
import { createPoisoner } from './poisoner.ts';
import { FIXED_PRICE, PUBLIC_URL, startShop } from './shop.ts';

const BALANCE = 1_000_000_000n;
/** Longer than the paywall waits for the outcome of a payment. */
const TIMEOUT_MS = 90_000;

export type Buyer = { address: string; isPoor: boolean } & (
  | { dialect: 'quittance'; pay: typeof fetch }
  | { dialect: 'x402' | 'mpp'; client: Client }
);
export type Actors = Awaited<ReturnType<typeof createActors>>;

/** Signs all clients up before the faults begin, and starts the shop. */
export const createActors = async (
  harness: Harness,
  log: Log,
  counts: { buyers: number; poor: number; poorBalance: bigint },
) => {
  const { stack, stateDir } = harness;
  const api = patientApi(createApi(stack.gateway_url));
  const { chain } = interopStack(stack, path.resolve(stateDir));
  // A payment of another client needs the token account of its payee.
  const { keypair: payout, address: payTo } = await chain.wallet(0n);
  const email = `shop-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const { apiKey, serviceId } = await createVendor(api, stack, { payout, email });
  const fees = await createFeePayer(harness, email);
  let serviceKey = apiKey;
  const shop = await startShop({
    ...{ gateways: stack.gateway_urls, serviceId, serviceKey, log },
    rotateKey: async () => {
      const rotated = await must(
        api<{ api_key: string }>(`POST /v1/services/${serviceId}/key/rotate`, { token: serviceKey }),
        'rotate',
      );
      serviceKey = rotated.api_key;
      return serviceKey;
    },
  });

  /** A request of a buyer goes to one replica, as a load balancer sends it. */
  let turn = 0;
  const shopFetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    // Other addresses are those of the API.
    if (!request.url.startsWith(`${PUBLIC_URL}/`)) return fetch(request);
    turn += 1;
    const url = request.url.replace(PUBLIC_URL, shop.urls[turn % shop.urls.length]!);
    return fetch(new Request(url, request), { signal: AbortSignal.timeout(TIMEOUT_MS) });
  };

  const createBuyer = async (at: number): Promise<Buyer> => {
    const dialect = DIALECTS[at % DIALECTS.length]!;
    const isPoor = at < counts.poor;
    const balance = isPoor ? counts.poorBalance : BALANCE;
    if (dialect === 'quittance') {
      const consumer = await createConsumer(api, stack, { balance, allowance: BALANCE });
      const { api_key: delegateKey } = await untilShown(() => createDelegate(api, consumer, {}));
      const pay = payingFetch(shopFetch as typeof fetch, {
        baseUrl: stack.gateway_urls[at % stack.gateway_urls.length]!,
        delegateKey,
        maxAmount: FIXED_PRICE,
      });
      return { dialect, address: consumer.wallet.publicKey.toBase58(), isPoor, pay };
    }
    const { keypair, address } = await chain.wallet(balance);
    const client =
      dialect === 'x402' ? await createX402Client(keypair, chain.rpcUrl) : createMppClient(keypair, harness);
    return { dialect, address, isPoor, client };
  };
  try {
    const buyers = await atOnce(counts.buyers, createBuyer);
    const poisoner = await createPoisoner(harness, log, { chain, shopFetch: shopFetch as typeof fetch });
    return { buyers, fees, poisoner, newWallet: chain.wallet, shop, payTo, serviceId, shopFetch };
  } catch (error) {
    await shop.stop();
    throw error;
  }
};
