import { expect, test } from '@jest/globals';
import { eventOf } from './ended.ts';

const ID = 'stl_01m82xws9yfqbbx539kk3pttty';

test('use that does not exceed the fee pays nothing, and the log says why and how much pays', () => {
  expect(eventOf({ unpaid: '480' }, ID, '10001')).toEqual({
    event: 'released',
    resource: null,
    payment_id: ID,
    reason: 'below_fee',
    message: `${ID} has ended with a use of 0.00048 USDC. It pays you nothing, because the use does not exceed the fee of 0.01 USDC. The smallest tab that pays is 0.010001 USDC`,
  });
});

test.each([
  ['15000', '10000', 'high_fee'],
  ['40000', '10000', 'high_fee'],
  ['40001', '10000', undefined],
  ['10000000', '50000', undefined],
])('a capture of %s with a fee of %s has the reason %s', (paid, fee, reason) => {
  const event = eventOf({ paid, fee }, ID, '10001');
  expect([event?.event, event?.reason]).toEqual(['captured', reason]);
  expect(event?.message).toMatch(/^\S+ USDC captured of stl_\w+, fee 0\.0[15] USDC$/);
});

test('an authorization that was not used is not worth a line', () => {
  expect(eventOf(null, ID, '10001')).toBe(null);
});
