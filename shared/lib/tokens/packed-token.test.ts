import { expect, test } from '@jest/globals';
import { packToken, unpackToken } from './packed-token.ts';

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const SIGNATURE = Buffer.alloc(64, 7).toString('base64url');
const quote = (scope: unknown) => ({
  typ: 'quote',
  kid: 'test.quote.1',
  env: 'test',
  quote_id: 'q_01m89kyg6vfew9ffw187d27v9n',
  vendor_account_id: 'acct_01m89kyf4gect9cqc17rh3hsgg',
  service_id: '6d0dca9c-7eaa-4303-9418-72ae941b7cb9',
  service_name: 'Weather API',
  payout_address: '4fz3Tbi2RXzAVDQMZ4QXGDAS8t62VmsXr4eFWSxMiiUe',
  mint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  quote_amount: '20000',
  fee_amount: '10000',
  currency: 'USDC',
  issued_at: '2026-11-25T15:07:22.202Z',
  expires_at: '2026-11-25T15:17:22.202Z',
  redeem_window_seconds: 900,
  scope,
});

test.each([
  ['a quote', `${part(quote(null))}.${SIGNATURE}`],
  ['a quote with a scope', `${part(quote({ model: 'größte', units: 1000 }))}.${SIGNATURE}`],
  ['the largest scope', `${part(quote({ text: 'x'.repeat(4000) }))}.${SIGNATURE}`],
  ['a payload that is not JSON', `AAAA.${SIGNATURE}`],
  ['an encoding that is not canonical', `${part({ a: 1 }).slice(0, -1)}B.${SIGNATURE}`],
  ['a short signature', `${part({})}.AAAA`],
  ['a third part', `${part({})}.${SIGNATURE}.x`],
  ['no signature', 'nothing'],
  ['an empty text', ''],
])('%s is unpacked to the very text that was packed', (_, token) => {
  expect(unpackToken(packToken(token))).toBe(token);
});

test('a quote token takes a third of its characters', () => {
  const token = `${part(quote(null))}.${SIGNATURE}`;
  expect(packToken(token).length * 3).toBeLessThan(token.length);
});

/** Rows that were stored once are read for ever, so the dictionary must not change. */
test('a token that an earlier version stored is read', () => {
  const stored =
    'AQcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBw' +
    'ejON5yLSyzK9PNytJSyy3T0soNLcxTjMzLLPPwxydYV5pJempyiWVyYbKheVGGcUZxejp6PJulGKQkJ1om65qn' +
    'JibqmhgbGOtamhha6JobJaZamhgmmScnWWKmhfDUxJKM1CJcycEkrco4JCnTKCiiyjHMJdA3yiQwwt3FMdiixM' +
    'woLLc4osgk1S08uMI3MzMUlJTJSDqYycGIKqnB0NTKwNzKyEjPyMAIX2owNLUyRFZHRGqoVirJTC1SslJKz89J' +
    'UaqtBQA=';
  expect(unpackToken(Buffer.from(stored, 'base64'))).toBe(`${part(quote({ tier: 'gold' }))}.${SIGNATURE}`);
});

test('bytes of an unknown form are refused', () => {
  expect(() => unpackToken(Buffer.of(9, 9))).toThrow('begins with 9');
});
