import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Delegate,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { refund, withdraw } from '../../deploy/local/seed/transfers.ts';
import { waitFor } from '../support/base/wait.ts';
import { atOnce, runningStack } from '../support/servers/stack.ts';

const stack = runningStack();
const api = createApi(stack.gateway_url);
const root = path.resolve(import.meta.dirname, '../..');
const PRICE = 1_000_000n;
const FUNDS = 50_000_000n;

type List = {
  data: {
    transaction_id: string;
    type: string;
    direction: string;
    amount: string;
    fee_amount: string;
    status: string;
    tx_hash: string;
    object_id: string;
    created_at: string;
  }[];
  next_cursor: string | null;
};
type Summary = {
  total_spent: string;
  total_refunded: string;
  total_fees: string;
  payment_count: number;
  groups: { key: string | null; spent: string; payment_count: number }[];
};
const list = (token: string, query = '') =>
  must(api<List>(`GET /v1/transactions?limit=100${query}`, { token }), 'list');
const summary = (token: string, query = '') =>
  must(api<Summary>(`GET /v1/spending/summary?${query}`, { token }), 'summary');
const soon = <T>(read: () => Promise<T>, good: (value: T) => boolean): Promise<T> =>
  waitFor(read, good, 30_000, 100);

let vendor: Vendor;
let buyer: Consumer;
let stranger: Consumer;
let robot: Delegate;
beforeAll(async () => {
  [vendor, buyer, stranger] = await Promise.all([
    createVendor(api, stack, { price: PRICE }),
    createConsumer(api, stack, { balance: FUNDS, allowance: FUNDS }),
    createConsumer(api, stack, { balance: 1n, allowance: 0n }),
  ]);
  robot = await createDelegate(api, buyer, {});
});

test('payments, refunds and funds are listed and summed for each account, and are the same after a rebuild', async () => {
  const payers = [buyer.token, buyer.token, robot.api_key];
  const quotes = await atOnce(3, () => quoteOf(api, vendor));
  const paid = await atOnce(3, (i) => must(settleWith(api, payers[i]!, quotes[i]!), 'settle'));
  // Refused before it is committed, so it is no transaction.
  await settleWith(api, stranger.token, await quoteOf(api, vendor));
  const fee = BigInt(quotes[0]!.fee_amount);

  const seen = await soon(
    () => list(buyer.token),
    ({ data }) => data.length === 4 && data.every(({ status }) => status === 'finalized'),
  );
  const hashes = Object.fromEntries(paid.map(({ settlement_id, tx_hash }) => [settlement_id, tx_hash]));
  const payments = seen.data.filter(({ type }) => type === 'payment');
  expect(Object.fromEntries(payments.map(({ object_id, tx_hash }) => [object_id, tx_hash]))).toEqual(hashes);
  expect(payments[0]).toMatchObject({ direction: 'out', amount: `${PRICE}`, fee_amount: `${fee}` });
  expect((await list(buyer.token, '&type=dev_fund')).data).toMatchObject([
    { type: 'dev_fund', direction: 'in', amount: `${FUNDS}`, fee_amount: '0', status: 'finalized' },
  ]);

  const own = await list(robot.api_key);
  expect(own.data.map(({ object_id }) => object_id)).toEqual([paid[2]!.settlement_id]);
  const paidOn = own.data[0]!.created_at.slice(0, 10);
  const got = await list(vendor.signIn.access_token);
  expect(got.data).toHaveLength(3);
  expect(got.data[0]).toMatchObject({ direction: 'in', amount: `${PRICE - fee}`, fee_amount: `${fee}` });
  const others = await list(stranger.token);
  expect(others.data.map(({ type }) => type)).toEqual(['dev_fund']);

  expect(await summary(buyer.token, 'group_by=delegate')).toMatchObject({
    total_spent: `${3n * PRICE}`,
    total_refunded: '0',
    total_fees: `${3n * fee}`,
    payment_count: 3,
    groups: [
      { key: null, spent: `${2n * PRICE}`, payment_count: 2 },
      { key: robot.delegate_id, spent: `${PRICE}`, payment_count: 1 },
    ],
  });
  expect(await summary(buyer.token, 'group_by=service')).toMatchObject({
    groups: [{ key: vendor.serviceId, spent: `${3n * PRICE}`, payment_count: 3 }],
  });
  expect((await summary(robot.api_key)).groups).toEqual([
    { key: paidOn, spent: `${PRICE}`, payment_count: 1 },
  ]);
  expect(await summary(stranger.token)).toMatchObject({ total_spent: '0', payment_count: 0, groups: [] });

  // A refund and a withdrawal. The refunded payment was the delegate's, so the delegate sees the
  // refund.
  const given = await refund(api, vendor, paid[2]!.settlement_id, 100_000n);
  const left = await withdraw(api, buyer, {
    amount: 2_000_000n,
    to: stranger.wallet.publicKey.toBase58(),
  });
  const whole = await soon(
    () => list(buyer.token),
    ({ data }) => data.length === 6 && data.every(({ status }) => status === 'finalized'),
  );
  expect(whole.data.slice(0, 2)).toMatchObject([
    { type: 'withdrawal', direction: 'out', amount: '2000000', object_id: left.withdrawal_id },
    { type: 'refund', direction: 'in', amount: '100000', object_id: given.refund_id, tx_hash: given.tx_hash },
  ]);
  expect((await list(robot.api_key, '&type=refund')).data).toMatchObject([{ object_id: given.refund_id }]);
  expect((await summary(robot.api_key)).total_refunded).toBe('100000');
  expect((await list(vendor.signIn.access_token, '&type=refund')).data).toMatchObject([
    { direction: 'out', amount: '100000', status: 'finalized' },
  ]);

  const script = path.join(root, 'tools/rebuild-projections.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env: process.env });
  expect(stdout).toContain('"msg":"transactions rebuilt"');
  expect(await list(buyer.token)).toEqual(whole);
  expect((await list(vendor.signIn.access_token)).data.filter(({ type }) => type === 'payment')).toEqual(
    got.data,
  );
});

test.each([
  ['/v1/transactions?type=gift', 400],
  ['/v1/transactions?from=2026-02-30T00:00:00Z', 400],
  ['/v1/transactions?cursor=AAAA.AAAA', 400],
  ['/v1/spending/summary?group_by=vendor', 400],
  ['/v1/spending/summary?from=2020-01-01T00:00:00Z', 400],
  ['/v1/spending/summary?from=2099-01-01T00:00:00Z', 400],
])('%s is %i; by a service key 403', async (route, status) => {
  expect((await api(`GET ${route as `/${string}`}`, { token: buyer.token })).status).toBe(status);
  expect((await api(`GET ${route as `/${string}`}`, { token: vendor.apiKey })).status).toBe(403);
});
