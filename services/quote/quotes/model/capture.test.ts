import { expect, test } from '@jest/globals';
import { captureTerms } from './capture.ts';

const RULE = { bps: 50n, minMicro: 10_000n };
const service_id = '0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17';
const termsOf = (fields: object) => captureTerms({ service_id, ...fields } as never, RULE);

test('a quote without capture has a fixed price, also when it says so', () => {
  expect(termsOf({ quote_amount: '50000' })).toBeNull();
  expect(termsOf({ capture: 'automatic' })).toBeNull();
});

test('the terms name the rule of the fee, so a capture needs no other source', () => {
  expect(termsOf({ capture: 'usage', max_amount: '500000', unit_price: '250' })).toEqual({
    mode: 'usage',
    window_seconds: 3600,
    unit_price: '250',
    threshold: null,
    fee: { bps: 50, min: '10000' },
  });
  expect(
    termsOf({
      ...{ capture: 'usage', max_amount: '500000', capture_threshold: '10001' },
      capture_window_seconds: 60,
    }),
  ).toMatchObject({ window_seconds: 60, threshold: '10001' });
});

const ceiling = { capture: 'manual', max_amount: '500000' };
test.each<[string, object, string]>([
  ['a ceiling without capture', { max_amount: '500000' }, 'max_amount: needs capture'],
  ['a window without capture', { capture_window_seconds: 60 }, 'capture_window_seconds: needs capture'],
  ['no ceiling', { capture: 'manual' }, 'max_amount: is required'],
  ['a fixed price beside a ceiling', { ...ceiling, quote_amount: '1' }, 'quote_amount: is not for capture'],
  ['a redeem window', { ...ceiling, redeem_window_seconds: 60 }, 'redeem_window_seconds: is not for capture'],
  ['prepaid units', { ...ceiling, scope: { units: 5 } }, 'scope.units: prepays units'],
  ['a unit above the ceiling', { ...ceiling, unit_price: '500001' }, 'unit_price: must be at most'],
  [
    'a threshold of mode manual',
    { ...ceiling, capture_threshold: '20000' },
    'capture_threshold: is only for',
  ],
  [
    'a threshold above the ceiling',
    { ...ceiling, capture: 'usage', capture_threshold: '500001' },
    'capture_threshold: must be at most',
  ],
  [
    'a threshold that its fee takes',
    { ...ceiling, capture: 'usage', capture_threshold: '10000' },
    'capture_threshold: must exceed its fee',
  ],
])('refuses %s', (_name, fields, message) => {
  expect(() => termsOf(fields)).toThrow(message);
});
