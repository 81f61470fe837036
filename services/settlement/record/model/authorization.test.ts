import { expect, test } from '@jest/globals';
import { ServiceError } from '../../../../shared/contract/errors.ts';
import { type Authorization, amountsToCapture, captureAmounts, usageRefusal } from './authorization.ts';

const open: Authorization = {
  ...{ status: 'authorized', maxMicro: 500_000n, usedMicro: 60_000n, usable: true, isAtRisk: false },
};
const fee = { bps: 50, min: '10000' };

test.each<[string, Partial<Authorization>, bigint, string | null]>([
  ['what is left', {}, 440_000n, null],
  ['one micro-unit more', {}, 440_001n, 'usage_exceeds_authorization'],
  ['one that is due', { usable: false }, 1n, 'authorization_closed'],
  ['one at risk', { usable: false, isAtRisk: true }, 1n, 'authorization_closed'],
  ['one that is captured', { status: 'redeemed', usable: false }, 1n, 'authorization_closed'],
  ['one that is void', { status: 'voided', usable: false }, 1n, 'authorization_closed'],
  ['a payment without a ceiling', { maxMicro: null }, 1n, 'conflict'],
])('use of %s', (_name, changed, wanted, code) => {
  expect(usageRefusal({ ...open, ...changed }, wanted)?.code ?? null).toBe(code);
});

test.each<[bigint, bigint | null]>([
  [0n, null],
  [10_000n, null],
  [10_001n, 10_000n],
  [2_000_000n, 10_000n],
  [2_000_200n, 10_001n],
])('the fee of a capture of %s is that of the signed rule', (amount, expected) => {
  expect(captureAmounts(amount, { fee })?.feeMicro ?? null).toBe(expected);
});

test.each<[string, 'manual' | 'usage', bigint | null, Partial<Authorization>, string | bigint]>([
  ['what was used', 'usage', null, {}, 60_000n],
  ['an amount up to the ceiling', 'manual', 500_000n, {}, 500_000n],
  ['an amount beyond the ceiling', 'manual', 500_001n, {}, 'usage_exceeds_authorization'],
  ['less than was used', 'manual', 59_999n, {}, 'validation_error'],
  ['more than was used, of mode usage', 'usage', 60_001n, {}, 'validation_error'],
  ['more than was used, when it is due', 'manual', 60_001n, { usable: false }, 'authorization_closed'],
  ['what was used, when it is due', 'manual', 60_000n, { usable: false }, 60_000n],
  ['what its fee takes', 'manual', null, { usedMicro: 10_000n }, 'capture_below_fee'],
])('a capture of %s', (_name, mode, asked, changed, expected) => {
  const capture = () => amountsToCapture({ ...open, ...changed }, { fee, mode }, asked);
  if (typeof expected === 'bigint') expect(capture().amountMicro).toBe(expected);
  else {
    let code: string | null = null;
    try {
      capture();
    } catch (error) {
      if (error instanceof ServiceError) code = error.code;
    }
    expect(code).toBe(expected);
  }
});
