import { expect, test } from '@jest/globals';
import { LONGEST_MEMO_BYTES, memoOf } from './model.ts';

const memo = (serviceName: string) => memoOf({ serviceName, amountMicro: 2_500_000n, quoteId: 'q_1' });

test('the memo names vendor, amount and quote', () => {
  expect(memo('Weather')).toBe('Weather: 2.50 USDC (q_1)');
});

test.each(['a'.repeat(300), 'ü'.repeat(200), '🌦️'.repeat(80)])(
  'the memo of the vendor %s fits into a transaction, in whole characters',
  (name) => {
    const text = memo(name);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LONGEST_MEMO_BYTES);
    expect(text).toMatch(/: 2\.50 USDC \(q_1\)$/);
    expect(name.startsWith(text.slice(0, text.indexOf(': ')))).toBe(true);
  },
);
