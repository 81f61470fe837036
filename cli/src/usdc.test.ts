import { expect, test } from '@jest/globals';
import { UsageError } from './errors.ts';
import { microOption } from './usdc.ts';

test.each([
  ['1', '1000000'],
  ['0.10', '100000'],
])('%s USDC are %s micro-units', (text, micro) => expect(microOption(text, '--max')).toBe(micro));

test.each(['', '0', '1,5', '0.0000001', '1'.repeat(13)])(
  '"%s" is refused, with the option and an example',
  (text) => {
    expect(() => microOption(text, '--max')).toThrow(UsageError);
    expect(() => microOption(text, '--max')).toThrow(/^--max: ".*" is not an amount in USDC, like 0\.10/);
  },
);
