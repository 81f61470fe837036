import { expect, test } from '@jest/globals';
import { UsageError } from '../errors.ts';
import { microOption } from './usdc.ts';

test.each([
  ['$1', '1000000'],
  ['0.10', '100000'],
  ['$0.10', '100000'],
  ['0.10 USDC', '100000'],
])('%s USDC are %s micro-units', (text, micro) => expect(microOption(text, '--max')).toBe(micro));

test.each(['', '0', '1,5', '0.0000001', '5', '50000', '1'.repeat(13)])(
  '"%s" is refused, with the option',
  (text) => {
    expect(() => microOption(text, '--max')).toThrow(UsageError);
    expect(() => microOption(text, '--max')).toThrow(/^--max ".*": (write|must|has|is)/);
  },
);
