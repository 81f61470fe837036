import { expect } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  type Delegate,
} from '../../../deploy/local/seed/actors.ts';
import { type Api, createApi, must } from '../../../deploy/local/seed/api.ts';
import { networkOf } from '../../../deploy/local/stack/networks.ts';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';
import { payExternal, present, priceOf, reportExternal } from '../actors/outgoing.ts';
import { waitFor } from '../base/wait.ts';
import { type InteropServer, startInterop } from './interop.ts';
import { interopStack } from './interop-stack.ts';

/**
 * One buyer on a stack whose slots take 100 ms, and vendors whose facilitator is the reference with
 * scripted behaviours (test/interop/x402/scripted-facilitator.mjs).
 */
export const PRICE = 50_000n;
const { caip2: NETWORK } = networkOf('test');
/** A finalized blockhash is valid for about 118 more blocks. The rest is for a busy machine. */
const LATE_BLOCKS = [60, 61];
/** A blockhash expires, that becomes final, and the source is read again. */
export const PROVEN_MS = 90_000;
export const LIMITS = { daily: '90000000', total: '90000000' };

type Started = {
  api: Api;
  interop: ReturnType<typeof interopStack>;
  facilitator: InteropServer;
  feePayer: Keypair;
  owner: Consumer;
};
let api: Api;
let interop: ReturnType<typeof interopStack>;
let facilitator: InteropServer;
let owner: Consumer;
/** Whatever the tests have started. */
const started: { stop: () => unknown }[] = [];

/**
 * Starts the facilitator and the buyer.
 * @param stateDir the stack's folder
 */
export const startOutgoing = async (stack: Stack, stateDir: string): Promise<Started> => {
  api = createApi(stack.gateway_url);
  interop = interopStack(stack, stateDir);
  owner = await createConsumer(api, stack);
  const { chain } = interop;
  const secretKey = await chain.feePayer();
  facilitator = await startInterop('scripted-facilitator', {
    ...{ rpcUrl: chain.rpcUrl, network: NETWORK, secretKey, lateBlocks: LATE_BLOCKS },
  });
  const feePayer = Keypair.fromSecretKey(Buffer.from(secretKey, 'base64'));
  return { api, interop, facilitator, feePayer, owner };
};

export const stopOutgoing = async (): Promise<void> => {
  await Promise.all(started.map(({ stop }) => stop()));
  await facilitator?.stop();
};

/** Stops it with the facilitator. */
export const stopLater = <T extends { stop: () => unknown }>(server: T): T => {
  started.push(server);
  return server;
};

/** A key that may pay these addresses outside. */
export const delegateFor = (pay_to: string[] | 'any', limits: object = LIMITS, more: object = {}) =>
  createDelegate(api, owner, limits, { external: { pay_to, origins: null }, ...more });

export const usageOf = async ({ api_key }: Pick<Delegate, 'api_key'>) => {
  const { usage } = await must(api<Delegate>('GET /v1/delegates/me', { token: api_key }), 'me');
  return { held: usage.total.held, spent: usage.total.spent };
};
export const NOTHING = { held: '0', spent: '0' };
export const HELD = { held: `${PRICE}`, spent: '0' };
export const SPENT = { held: '0', spent: `${PRICE}` };

export type Settlement = {
  status: string;
  chain_status: string;
  rail: string;
  tx_hash: string | null;
  service_id: string | null;
  payees: { address: string; amount: string }[];
};
export const settlementOf = (id: string) =>
  must(api<Settlement>(`GET /v1/settlements/${id}`, { token: owner.token }), 'settlement');

export type Vendor = { payTo: string; server: InteropServer };
export const startAt = async (
  name: 'vendor-express' | 'vendor-hono',
  settings: { facilitatorUrl: string; serviceKey?: string; payTo: string },
): Promise<Vendor> => {
  const server = stopLater(await startInterop(name, { network: NETWORK, ...settings }));
  return { payTo: settings.payTo, server };
};
export const startVendor = async (
  behaviour: string,
  name: 'vendor-express' | 'vendor-hono' = 'vendor-express',
): Promise<Vendor> =>
  startAt(name, {
    facilitatorUrl: `${facilitator.url}/${behaviour}`,
    payTo: await interop.chain.payee(),
  });

/** Pays a vendor once, and returns what the buyer sees right afterwards. */
export const buy = async ({ payTo, server }: Vendor) => {
  const delegate = await delegateFor([payTo]);
  const attemptId = crypto.randomUUID();
  const price = await priceOf(server.url);
  const ask = () => payExternal(api, delegate.api_key, price, attemptId);
  const payment = await must(ask(), 'pay');
  const delivery = await present(price, payment.payment_signature);
  const { settlement_id } = payment;
  const report =
    delivery.receipt === null
      ? null
      : await must(reportExternal(api, delegate.api_key, settlement_id, delivery.receipt), 'report');
  return { delegate, attemptId, price, ask, payment, delivery, report };
};
type Bought = Awaited<ReturnType<typeof buy>>;

/**
 * Reads until the settlement has ended. Until then the amount is held, and each repeat of the
 * attempt gets the same bytes.
 * @returns the settlement, the usage and how often both were seen before
 */
export const ended = async ({ delegate, ask, payment }: Bought) => {
  const { settlement_id, payment_signature } = payment;
  let pendingReads = 0;
  const settlement = await waitFor(
    async () => {
      const repeat = await ask();
      if (repeat.status === 200) expect(repeat.body).toMatchObject({ settlement_id, payment_signature });
      const usage = await usageOf(delegate);
      const read = await settlementOf(settlement_id);
      // What is read later is not older.
      if (read.status === 'pending') {
        expect(usage).toEqual(HELD);
        pendingReads += 1;
      }
      return read;
    },
    ({ status }) => status !== 'pending',
    PROVEN_MS,
    250,
  );
  const usage = await waitFor(
    () => usageOf(delegate),
    ({ held }) => held === '0',
  );
  return { settlement, usage, pendingReads };
};

/** The address that a vendor is paid at, and its balance. */
export const balancesOf = async ({ payTo }: Vendor) => [payTo, await interop.chain.balance(payTo)];
