import { expect, test } from '@jest/globals';
import type { Reservation } from '../../../shared/db/budget.ts';
import type { SettleOrder } from '../ledger/model/order.ts';
import { type Caps, reservePayment } from './spending-caps.ts';

const NOW = Date.UTC(2030, 0, 1, 11, 5);
const MINUTE = 60_000;
const order = (acceptedAt: number) =>
  ({ payer: 'w', accountId: 'a', grossMicro: 5n, acceptedAt }) as SettleOrder;
const reserve = async (acceptedAt: number, signature: string | null = null) => {
  const asked: unknown[] = [];
  const reservation: Reservation = { release: () => {} };
  const caps: Pick<Caps, 'reserveMicro'> = {
    reserveMicro: async (...of) => {
      asked.push(of);
      return reservation;
    },
  };
  const result = await reservePayment(caps, { signature, read_at: NOW }, order(acceptedAt));
  expect(result).toBe(asked.length === 0 ? null : reservation);
  return asked;
};

test.each([
  ['the time of acceptance', NOW - 8 * MINUTE, NOW - 8 * MINUTE],
  ['a few minutes ago at most', NOW - 600 * MINUTE, NOW - 10 * MINUTE],
  ['never in the future', NOW + 60 * MINUTE, NOW],
])('the time at which a payment is counted: %s', async (_when, acceptedAt, at) => {
  expect(await reserve(acceptedAt)).toEqual([[{ wallet: 'w', accountId: 'a' }, 5n, at]]);
});

test('a payment is counted once, in the first generation that this service signed', async () => {
  expect(await reserve(NOW, '5'.repeat(80))).toEqual([]);
});
