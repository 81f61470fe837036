import { createConsumer, createDelegate } from '../../../deploy/local/seed/actors.ts';
import type { Api } from '../../../deploy/local/seed/api.ts';
import { payingFetch } from '../../../sdk/src/pay/main.ts';
import { messageHashOf } from '../../../shared/lib/chain/wire-transaction.ts';
import type { Access } from '../access.ts';
import { untilShown } from '../checks/shown-once.ts';
import { type Client, createMppClient, createX402Client } from '../paywall/buyers.ts';
import { goodsOf } from './goods.mjs';
import type { Lane } from './lane.ts';
import type { Kind, Purchase } from './log.ts';

/** Buyers of one kind. Each repeats the same payment until it knows what became of it. */

const BALANCE = 100_000_000n;
/** Longer than the gate waits for the outcome of a payment. */
const TIMEOUT_MS = 90_000;

type Place = Pick<Access, 'stack' | 'chain' | 'rpc'>;
export type Buyer = {
  address: string;
  kind: Kind;
  /** One try of a purchase. Its outcome is `open` until the buyer has the goods or a refusal. */
  attempt: (purchase: Purchase, lane: Lane) => Promise<void>;
};

/** The whole answer, so that one that breaks off is none. */
const wholeFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) });
  const { status, statusText, headers } = response;
  const body = await response.arrayBuffer();
  const hasBody = ![204, 205, 304].includes(status);
  return new Response(hasBody ? body : null, { status, statusText, headers });
};

/** Writes down what a buyer was answered. */
const conclude = async (purchase: Purchase, response: Response): Promise<void> => {
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status === 200) purchase.outcome = bytes.equals(goodsOf(purchase.path)) ? 'goods' : 'wrong';
  else if (response.status === 402) purchase.outcome = 'refused';
  const reason = response.status === 200 ? '' : /"reason":"(\w+)"/.exec(bytes.toString())?.[1];
  purchase.answers.push(`${response.status} ${reason ?? ''}`.trim());
};

const ownBuyer = async (api: Api, { stack }: Place, kind: Kind): Promise<Buyer> => {
  const consumer = await createConsumer(api, stack, { balance: BALANCE, allowance: BALANCE });
  const { api_key: delegateKey } = await untilShown(() =>
    createDelegate(api, consumer, { daily: '90000000' }),
  );
  /** What becomes armed when a payment is presented. */
  const arming = new Map<string, () => void>();
  const presenting: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    if (request.headers.has('x-settlement-token')) {
      arming.get(request.url)?.();
      arming.delete(request.url);
    }
    return wholeFetch(request);
  };
  const pay = payingFetch(presenting, { baseUrl: stack.gateway_url, delegateKey, maxAmount: '$0.50' });
  return {
    ...{ kind, address: consumer.wallet.publicKey.toBase58() },
    attempt: async (purchase, lane) => {
      if (!purchase.isPresented) arming.set(purchase.resource, () => lane.arm(purchase));
      try {
        const response = await pay(purchase.resource);
        await conclude(purchase, response);
        // It is the price of another payment, which a client of ours decides about again.
        if (purchase.outcome === 'refused') purchase.outcome = 'open';
      } catch (error) {
        const { name, message } = error as Error;
        purchase.answers.push(`${name}: ${message}`);
      }
    },
  };
};

const foreignBuyer = async (api: Api, place: Place, kind: 'x402' | 'mpp'): Promise<Buyer> => {
  const { wallet: keypair } = await createConsumer(api, place.stack, { balance: BALANCE, allowance: 0n });
  const address = keypair.publicKey.toBase58();
  const client: Client =
    kind === 'x402'
      ? await createX402Client(keypair, place.stack.environments.test!.rpc_url)
      : createMppClient(keypair, place);
  const signed = new Map<Purchase, Record<string, string>>();
  const sign = async (purchase: Purchase): Promise<Record<string, string> | null> => {
    const offer = await wholeFetch(purchase.resource);
    if (offer.status !== 402 || !offer.headers.has('payment-required')) return null;
    const transaction = await client.sign(offer.headers);
    purchase.hashes.push(messageHashOf(transaction)!);
    return client.headersOf(offer.headers, transaction);
  };
  return {
    ...{ kind, address },
    attempt: async (purchase, lane) => {
      try {
        const headers = signed.get(purchase) ?? (await sign(purchase));
        if (headers === null) return;
        signed.set(purchase, headers);
        if (!purchase.isPresented) lane.arm(purchase);
        await conclude(purchase, await wholeFetch(purchase.resource, { headers }));
      } catch (error) {
        purchase.answers.push((error as Error).message);
      }
    },
  };
};
/** Signs a buyer up. */
export const createBuyer = (api: Api, place: Place, kind: Kind): Promise<Buyer> =>
  kind === 'x402' || kind === 'mpp' ? foreignBuyer(api, place, kind) : ownBuyer(api, place, kind);
