import { expect, test } from '@jest/globals';
import type { Network } from '../ledger/model/network.ts';
import type { BuiltOrder } from '../ledger/model/order.ts';
import {
  feeLamports,
  incomingFeeLamports,
  incomingLamports,
  isRevoke,
  settleLamports,
  worthLamports,
} from './lamports.ts';

const network = { feePayer: 'payer', fundingAuthority: 'mint', computeBudget: null } as unknown as Network;
const priced = { ...network, computeBudget: { units: 100_001, microLamports: 15n, follows: false } };
const order = (kind: BuiltOrder['kind'], rest: object = {}) =>
  ({ kind, authority: 'authority', owner: 'owner', ...rest }) as unknown as BuiltOrder;

test.each([
  ['settle', network, 10_000n],
  // 100,001 units at 15 micro-lamports are 1.500015 lamports, and the chain rounds up.
  ['settle', priced, 10_002n],
  ['fund', priced, 10_000n],
  ['createTokenAccount', priced, 5_000n],
  ['delegation', priced, 10_000n],
  ['withdrawal', priced, 10_000n],
  ['refund', priced, 10_000n],
] as const)('the fee of %s: its signatures, plus the priority fee of a settle', (kind, of, lamports) => {
  expect(feeLamports(order(kind), of)).toBe(lamports);
});

test('the first transaction of a settle also reserves one refund, and a later generation does not', () => {
  expect(settleLamports(order('settle'), priced, 0)).toBe(20_002n);
  expect(settleLamports(order('settle'), priced, 1)).toBe(10_002n);
});

test('a fee is worth its lamports at the price of a SOL, rounded down', () => {
  expect(worthLamports(10_000n, 200_000_000n)).toBe(50_000n);
  expect([worthLamports(1n, 333_000_000n), worthLamports(0n, 1n)]).toEqual([3n, 0n]);
});

test('a payment of another client costs two signatures and its priority fee, and reserves one refund', () => {
  expect([incomingFeeLamports(1n), incomingLamports(1n)]).toEqual([10_001n, 20_001n]);
});

test.each([
  ['delegation', { allowanceMicro: null }, true],
  ['delegation', { allowanceMicro: 1n }, false],
  ['withdrawal', {}, false],
] as const)('a revoke is a delegation without an allowance: %s %j', (kind, rest, revokes) => {
  expect(isRevoke(order(kind, rest))).toBe(revokes);
});
