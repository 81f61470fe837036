import { describe, expect, test } from '@jest/globals';
import type { Output } from '../../types.ts';
import { eventByApi, eventOf } from './ended.ts';

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

const END = '2026-01-02T00:00:00.000Z';
const BEFORE = '2026-01-01T23:00:00.000Z';
const BY_BUYER = 'its buyer has closed it, or the key, sign-in or account that opened it was stopped';

type Verified = Output<'settlement.verify'>;
type Shown = Partial<Verified> & { of?: Partial<NonNullable<Verified['authorization']>> };
const shown = ({ of, ...more }: Shown) =>
  ({
    status: 'redeemed',
    quote_amount: '60000',
    fee_amount: '10000',
    redeemed_at: END,
    authorization: {
      ...{ used: '60000', least_capture: '10001', capture_ends_at: END, at_risk_at: null, voided_at: null },
      ...of,
    },
    ...more,
  }) as Verified;

test.each<[why: string, Shown]>([
  ['its window is over', {}],
  ["the buyer's wallet no longer covers it", { redeemed_at: BEFORE, of: { at_risk_at: BEFORE } }],
  [BY_BUYER, { redeemed_at: BEFORE }],
])('a capture that the API has made because %s is one line with what was captured', (why, verified) => {
  expect(eventByApi(shown(verified), ID, true)).toEqual({
    event: 'captured',
    resource: null,
    payment_id: ID,
    reason: 'ended_by_api',
    message: `The API has ended ${ID}, because ${why}. 0.06 USDC captured of ${ID}, fee 0.01 USDC`,
  });
});

test.each<[what: string, Shown, reason: string, message: string]>([
  [
    'use below the fee',
    { status: 'voided', redeemed_at: null, of: { used: '480', voided_at: END } },
    'below_fee',
    'It pays you nothing, because the use does not exceed the fee',
  ],
  ['a capture that has failed', { status: 'failed' }, 'ended_by_api', 'nobody pays the use of 0.06 USDC'],
])('%s says that nothing is paid', (_, verified, reason, message) => {
  expect(eventByApi(shown(verified), ID, true)).toMatchObject({
    event: 'released',
    reason,
    message: expect.stringContaining(message),
  });
});

describe('no line is', () => {
  test('an end without use', () => {
    const unused = shown({ status: 'voided', redeemed_at: null, of: { used: '0', voided_at: END } });
    expect(eventByApi(unused, ID, true)).toBe(null);
  });

  test('an end that another process of the vendor may have caused, unless the API says otherwise', () => {
    const early = shown({ redeemed_at: BEFORE });
    expect(eventByApi(early, ID, false)).toBe(null);
    expect(eventByApi(early, ID, true)).not.toBe(null);
    expect(eventByApi(shown({}), ID, false)).not.toBe(null);
  });
});
