import { expect, test } from '@jest/globals';
import { transactionOf } from './payment-response.ts';

const HASH = '5'.repeat(80);
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

test.each([
  ['a success', encoded({ success: true, transaction: HASH, network: 'solana' }), HASH],
  ['a failure that names it', encoded({ success: false, transaction: HASH }), HASH],
  ['a failure without it', encoded({ success: false, transaction: '' }), null],
  ['no hash', encoded({ transaction: 'none' }), null],
  [
    'a receipt of MPP',
    Buffer.from(JSON.stringify({ status: 'success', reference: HASH })).toString('base64url'),
    HASH,
  ],
  ['no object', encoded(null), null],
  ['no JSON', 'abc', null],
  ['no base64', '%%%', null],
])('the transaction of %s', (_name, response, expected) => {
  expect(transactionOf(response)).toBe(expected);
});
