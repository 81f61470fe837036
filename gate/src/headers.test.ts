import { expect, test } from '@jest/globals';
import { answerHeaders, presentsPayment, requestHeaders, requestTrailers } from './headers.ts';

test.each([
  ['X-Custom', 'a', ['X-Custom', 'a']],
  ['Host', 'a.example', ['Host', 'a.example']],
  ['Empty', '', ['Empty', '']],
  ['Connection', 'keep-alive', []],
  ['Transfer-Encoding', 'chunked', []],
  ['Content-Length', '5', []],
  ['Upgrade', 'websocket', []],
  ['TE', 'trailers', []],
  ['Proxy-Authorization', 'Basic a', []],
  ['Expect', '100-continue', []],
  ['X-Settlement-Token', 'a', []],
  ['X_Settlement_Token', 'a', []],
  ['Payment-Signature', 'a', []],
  ['X-Payment', 'a', []],
  ['Quittance-Settlement', 'stl_spoofed', []],
  ['quittance_settlement', 'stl_spoofed', []],
  ['QUITTANCE-TOKEN', 'a', []],
  ['X-Forwarded-For', '1.2.3.4', []],
  ['X-Original-URL', '/report', []],
  ['X-HTTP-Method-Override', 'GET', []],
  ['Authorization', 'Bearer a', ['Authorization', 'Bearer a']],
  ['Authorization', 'Payment a', []],
  ['Authorization', 'Bearer a, Payment b', ['Authorization', 'Bearer a']],
  ['Authorization', 'Bearer payment', ['Authorization', 'Bearer payment']],
  ['Cookie', 'a=1; quittance_0123=s~t; b=2', ['Cookie', 'a=1; b=2']],
  ['Cookie', 'quittance_0123=s~t', []],
])('%s: %s reaches the upstream as %j', (name, value, expected) => {
  expect(requestHeaders([name, value])).toEqual(expected);
  expect(requestTrailers([name, value]).flat()).toEqual(expected);
});

test('a header that Connection reserves does not pass, but Host does', () => {
  const sent = [
    'Connection',
    'close, X-Secret, host',
    'x-secret',
    'a',
    'Host',
    'a.example',
    'B',
    '1',
    'b',
    '2',
  ];
  expect(requestHeaders(sent)).toEqual(['Host', 'a.example', 'B', '1', 'b', '2']);
  expect(
    answerHeaders(['connection', 'X-Hop', 'x-hop', '1', 'Set-Cookie', 'a', 'Set-Cookie', 'b'], false),
  ).toEqual([...['Set-Cookie', 'a', 'Set-Cookie', 'b']]);
});

test.each([
  ['Cache-Control', 'public, max-age=60', []],
  ['Cache-Control', 'private, max-age=60', ['Cache-Control', 'private, max-age=60']],
  ['Cache-Control', 'no-store', ['Cache-Control', 'no-store']],
  ['Expires', 'Thu, 01 Jan 2099 00:00:00 GMT', []],
  ['Surrogate-Control', 'max-age=60', []],
  ['ETag', '"a"', ['ETag', '"a"']],
])('a paid answer with %s: %s has %j', (name, value, expected) => {
  expect(answerHeaders([name, value], true)).toEqual(expected);
  expect(answerHeaders([name, value], false)).toEqual([name, value]);
});

test.each([
  [{}, false],
  [{ authorization: 'Bearer a' }, false],
  [{ cookie: 'a=1' }, false],
  [{ 'x-settlement-id': 'stl_1' }, true],
  [{ 'payment-signature': 'a' }, true],
  [{ 'x-payment': 'a' }, true],
  [{ 'payment-authorization': 'Payment a' }, true],
  [{ authorization: 'Payment a' }, true],
  [{ cookie: 'quittance_0123=s~t' }, true],
])('%j presents a payment: %s', (headers, expected) => {
  expect(presentsPayment(headers)).toBe(expected);
});
