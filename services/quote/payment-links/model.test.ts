import { expect, test } from '@jest/globals';
import { LONGEST_MEMO_BYTES, memoOf } from './model.ts';

const memo = (serviceName: string) => memoOf({ serviceName, amountMicro: 2_500_000n, quoteId: 'q_1' });

test('the memo names vendor, amount and quote', () => {
  expect(memo('Weather')).toBe('2.50 USDC to Weather (q_1)');
});

test.each(['a'.repeat(300), 'ü'.repeat(200), '🌦️'.repeat(80)])(
  'the memo of the vendor %s fits into a transaction, in whole characters',
  (name) => {
    const text = memo(name);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LONGEST_MEMO_BYTES);
    const [, shown] = /^2\.50 USDC to (.+) \(q_1\)$/.exec(text)!;
    expect(name.startsWith(shown!)).toBe(true);
  },
);
