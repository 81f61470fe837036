import { expect, test } from '@jest/globals';
import type { Network } from './network.ts';
import type { IncomingOrder } from './order.ts';
import { expectedDeltas, movedOrder } from './payment.ts';

const network = { feeAccount: 'fee' } as Network;
const order = (legs: IncomingOrder['legs']): IncomingOrder => ({
  ...{ kind: 'incoming', accountId: 'vendor', authority: 'buyer', source: 'source' },
  byOutcome: false,
  since: 0,
  legs,
});
const [first, second] = [
  { destination: 'payee', amountMicro: 48n },
  { destination: 'fee', amountMicro: 2n },
];

test.each([
  ['one transfer', [first], { source: -48n, payee: 48n }],
  ['a split', [first, second], { source: -50n, payee: 48n, fee: 2n }],
  ['two transfers to one account', [first, first], { source: -96n, payee: 96n }],
])('the balance changes of a payment of another client: %s', (_name, legs, expected) => {
  expect(Object.fromEntries(expectedDeltas(order(legs), network))).toEqual(expected);
});

test.each([
  ['all of it', 2n, null, true],
  ['less than a leg', 1n, null, false],
  ['all of it, in a transaction that failed', 2n, 'InvalidAccountData', false],
])('whether a transaction moved the money of an order: %s', (_name, fee, err, expected) => {
  const deltas: Record<string, bigint> = { source: -50n, payee: 48n, fee };
  const changes = {
    slot: 1,
    err,
    cost: null,
    feePayer: () => null,
    deltaOf: (account: string) => deltas[account] ?? 0n,
  };
  expect(movedOrder(changes, order([first, second]), network)).toBe(expected);
});
