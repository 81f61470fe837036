import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { type Consumer, createConsumer, createDelegate } from '../../deploy/local/seed/actors.ts';
import { type Api, createApi, must } from '../../deploy/local/seed/api.ts';
import { type NotDeliveredError, payingFetch, receiptOf } from '../../sdk/src/pay/main.ts';
import { waitFor } from '../support/base/wait.ts';
import { INSTALL_MS, type InteropServer, startInterop } from '../support/others/interop.ts';
import { interopStack } from '../support/others/interop-stack.ts';
import { atOnce, runningStack } from '../support/servers/stack.ts';

/** Outgoing payments to unmodified vendors of MPP, which settle them themselves. */
const stack = runningStack();
const PRICE = 50_000n;
const SPLIT = 5000n;
const LIMITS = { daily: '90000000', total: '90000000' };

let api: Api;
let interop: ReturnType<typeof interopStack>;
let owner: Consumer;
let secretKey: string;
const started: InteropServer[] = [];
beforeAll(async () => {
  api = createApi(stack.gateway_url);
  interop = interopStack(stack, path.dirname(process.env.STACK_FILE!));
  owner = await createConsumer(api, stack);
  secretKey = await interop.chain.feePayer();
}, INSTALL_MS);
afterAll(() => Promise.all(started.map((server) => server.stop())));

const startVendor = async (more: object = {}) => {
  const { chain } = interop;
  const payTo = await chain.payee();
  const server = await startInterop('vendor-mpp', {
    ...{ rpcUrl: chain.rpcUrl, mint: chain.mint, payTo, secretKey, amount: `${PRICE}`, ...more },
  });
  started.push(server);
  return { payTo, server, at: (name: string) => new URL(name, server.url).href };
};
const delegateFor = (pay_to: string[] | 'any', limits: object = LIMITS) =>
  createDelegate(api, owner, limits, { external: { pay_to, origins: null } });
const payer = ({ api_key }: { api_key: string }) =>
  payingFetch(fetch, { baseUrl: stack.gateway_url, delegateKey: api_key, maxAmount: PRICE });
const usageOf = async ({ api_key: token }: { api_key: string }) => {
  const { usage } = await must(
    api<{ usage: { total: { held: string; spent: string } } }>('GET /v1/delegates/me', { token }),
    'me',
  );
  return { held: usage.total.held, spent: usage.total.spent };
};
const untilSpent = (delegate: { api_key: string }, amount: bigint) =>
  waitFor(
    () => usageOf(delegate),
    ({ held, spent }) => held === '0' && spent === `${amount}`,
  );
type Settlement = {
  settlement_id: string;
  rail: string;
  status: string;
  tx_hash: string | null;
  payees: { address: string; amount: string }[];
};
const settlementOf = (id: string) =>
  must(api<Settlement>(`GET /v1/settlements/${id}`, { token: owner.token }), 'settlement');
const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

test('payingFetch pays a stock vendor of MPP with splits and memos, within the limits of its key', async () => {
  const other = await interop.chain.payee();
  const splits = [{ recipient: other, amount: `${SPLIT}`, memo: 'platform' }];
  const { payTo, server } = await startVendor({ splits, externalId: 'order 1042' });
  const delegate = await delegateFor([payTo, other]);
  const response = await payer(delegate)(server.url);
  expect([response.status, await response.json()]).toEqual([200, { delivery: 1 }]);
  const receipt = receiptOf(response)!;
  expect(receipt).toMatchObject({ rail: 'mpp_out', amountMicro: `${PRICE}`, vendorAddress: payTo });
  await untilSpent(delegate, PRICE);
  const settlement = await settlementOf(receipt.settlementId);
  const payees = [
    { address: payTo, amount: `${PRICE - SPLIT}` },
    { address: other, amount: `${SPLIT}` },
  ];
  expect(receipt.payees).toEqual(payees);
  expect(settlement).toMatchObject({ rail: 'mpp_out', status: 'issued', payees });
  expect(settlement.tx_hash).toBe(receipt.transaction);
  expect(await interop.chain.balance(payTo)).toBe(PRICE - SPLIT);
  expect(await interop.chain.balance(other)).toBe(SPLIT);
});

test('every payee must be allowed, also that of a split', async () => {
  const other = await interop.chain.payee();
  const { payTo, server } = await startVendor({ splits: [{ recipient: other, amount: `${PRICE - 1n}` }] });
  const delegate = await delegateFor([payTo]);
  expect(await errorOf(payer(delegate)(server.url))).toMatchObject({ code: 'forbidden' });
  expect(await usageOf(delegate)).toEqual({ held: '0', spent: '0' });
});

test('equal payments at once, without a memo, are each paid once', async () => {
  const { payTo, server } = await startVendor();
  const keys = await atOnce(2, () => delegateFor([payTo]));
  const answers = await Promise.all(keys.map((key) => payer(key)(server.url)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(new Set(answers.map((answer) => receiptOf(answer)!.transaction)).size).toBe(2);
  for (const key of keys) await untilSpent(key, PRICE);
  expect(await interop.chain.balance(payTo)).toBe(2n * PRICE);
});

test('a vendor that was paid and answers with another challenge is named, and never paid again', async () => {
  const { payTo, at } = await startVendor();
  const delegate = await delegateFor([payTo]);
  const pay = payer(delegate);
  const buyOnce = () => pay(at('/denies'), { paymentKey: 'once' });
  const denied = await errorOf(buyOnce());
  expect(denied).toMatchObject({ name: 'NotDeliveredError', txHash: expect.any(String) });
  // The same payment again: the stock vendor has consumed it, and answers with its own failure.
  const again = await buyOnce();
  const { settlementId } = denied as NotDeliveredError;
  expect([again.status, receiptOf(again)?.settlementId]).toEqual([500, settlementId]);
  await untilSpent(delegate, PRICE);
  expect(await interop.chain.balance(payTo)).toBe(PRICE);
});

test('a vendor that keeps the payment and sends nothing: the amount is held, and returns after the proof', async () => {
  const { payTo, at } = await startVendor();
  const delegate = await delegateFor([payTo]);
  expect(await errorOf(payer(delegate)(at('/keeps')))).toMatchObject({ name: 'PaymentOpenError' });
  expect(await usageOf(delegate)).toEqual({ held: `${PRICE}`, spent: '0' });
  await waitFor(
    () => usageOf(delegate),
    ({ held }) => held === '0',
    90_000,
  );
  expect(await usageOf(delegate)).toEqual({ held: '0', spent: '0' });
  expect(await interop.chain.balance(payTo)).toBe(0n);
});

test('a limit of one payment: of eight vendors at once, one is paid', async () => {
  const vendors = await Promise.all(Array.from({ length: 2 }, () => startVendor()));
  const delegate = await delegateFor('any', { daily: `${PRICE}`, total: `${PRICE}` });
  const pay = payer(delegate);
  const calls = vendors.flatMap(({ server }) => Array.from({ length: 4 }, () => pay(server.url)));
  const ended = await Promise.allSettled(calls);
  const delivered = ended.filter((end) => end.status === 'fulfilled' && end.value.status === 200);
  expect(delivered).toHaveLength(1);
  await untilSpent(delegate, PRICE);
  const balances = await Promise.all(vendors.map(({ payTo }) => interop.chain.balance(payTo)));
  expect(balances.reduce((sum, each) => sum + each, 0n)).toBe(PRICE);
});

test('a vendor whose fee payer is the wallet that pays gets nothing', async () => {
  const { payTo } = await startVendor({
    secretKey: Buffer.from(Keypair.generate().secretKey).toString('base64'),
  });
  const delegate = await delegateFor([payTo]);
  const own = owner.wallet.publicKey.toBase58();
  const request = {
    ...{ amount: `${PRICE}`, currency: interop.chain.mint, recipient: payTo },
    methodDetails: { network: 'devnet', decimals: 6, feePayer: true, feePayerKey: own },
  };
  const challenge = {
    ...{ id: 'c1', realm: 'a', method: 'solana', intent: 'charge' },
    request: Buffer.from(JSON.stringify(request)).toString('base64url'),
  };
  const answer = await api<{ error: { code: string; money_moved: string } }>('POST /v1/payments', {
    token: delegate.api_key,
    body: { payment_attempt_id: crypto.randomUUID(), resource: 'https://vendor.example.com/a', challenge },
  });
  expect(answer.body.error).toMatchObject({ money_moved: 'no' });
  expect(await usageOf(delegate)).toEqual({ held: '0', spent: '0' });
});
