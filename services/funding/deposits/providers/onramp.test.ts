import { expect, test } from '@jest/globals';
import { parseExact } from './onramp.ts';

test.each([
  ['12345678901234567890.123456789', '12345678901234567890.123456789'],
  ['1e2', '1e2'],
  ['0.1', '0.1'],
])('the JSON number %s is parsed as its text', (text, expected) => {
  expect(parseExact(`{"a":[${text}]}`)).toEqual({ a: [expected] });
});
