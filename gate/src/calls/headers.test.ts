import { expect, test } from '@jest/globals';
import {
  answerHeaders,
  answerTrailers,
  hasUnremovable,
  presentsPayment,
  requestHeaders,
  requestTrailers,
} from './headers.ts';

test.each([
  ['X-Custom', 'a', ['X-Custom', 'a']],
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
  ['X.Original.URL', '/report', []],
  ['Quittance.Settlement', 'stl_spoofed', []],
  ['Quittance!Amount', '9', []],
  ['X~Payment', 'a', []],
  ['X-Forwarded-Uri', '/report', []],
  ['X-Original-Method', 'GET', []],
  ['X-Forwarded-Method', 'GET', []],
  ['X-Forwarded-Path', '/report', []],
  ['X-Forwarded-Prefix', '/a', []],
  ['X-Real-IP', '1.2.3.4', []],
  ['X-Forwarded-Port', '1', []],
  ['X-Forwarded-Ssl', 'on', []],
  ['X-Forwarded-Scheme', 'https', []],
  ['X-Envoy-Original-Path', '/report', []],
  ['X-Matched-Path', '/report', []],
  ['Forwarded', 'for=1.2.3.4', []],
  ['Authorization', 'Bearer a', ['Authorization', 'Bearer a']],
  ['Authorization', 'Payment a', []],
  ['Authorization', 'Bearer a, Payment b', ['Authorization', 'Bearer a']],
  ['Authorization', 'Bearer payment', ['Authorization', 'Bearer payment']],
  ['Cookie', 'a=1; quittance_0123=s~t; b=2', ['Cookie', 'a=1; b=2']],
  ['Cookie', 'quittance_0123=s~t', []],
])('%s: %s reaches the upstream as %j', (name, value, expected) => {
  expect(requestHeaders([name, value], null)).toEqual(expected);
  expect(requestTrailers([name, value]).flat()).toEqual(expected);
});

test('the gate names the host, where the caller has named one, and in no trailer', () => {
  expect(requestHeaders(['A', '1', 'HOST', 'b', 'B', '2'], 'a.example')).toEqual([
    ...['A', '1', 'HOST', 'a.example', 'B', '2'],
  ]);
  expect(requestHeaders(['A', '1'], 'a.example')).toEqual(['Host', 'a.example', 'A', '1']);
  expect(requestTrailers(['Host', 'b'])).toEqual([]);
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
  expect(requestHeaders(sent, 'a.example')).toEqual(['Host', 'a.example', 'B', '1', 'b', '2']);
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
  ['Cloudflare-CDN-Cache-Control', 'max-age=60', []],
  ['Vercel-CDN-Cache-Control', 'max-age=60', []],
  ['Edge-Control', 'max-age=60', []],
  ['X-Accel-Expires', '60', []],
  ['X-Accel-Buffering', 'no', ['X-Accel-Buffering', 'no']],
  ['Cache-Control', 'private="set-cookie", max-age=60', []],
  ['Cache-Control', 'max-age=60, Private', ['Cache-Control', 'max-age=60, Private']],
  ['ETag', '"a"', ['ETag', '"a"']],
])('a paid answer with %s: %s has %j', (name, value, expected) => {
  expect(answerHeaders([name, value], true)).toEqual(expected);
  expect(answerHeaders([name, value], false)).toEqual([name, value]);
});

test.each([
  ['Quittance-Usage', 'charged=0'],
  ['Quittance-Free-Remaining', '99'],
  ['Payment-Response', 'forged'],
  ['X-Payment-Response', 'forged'],
  ['Payment-Required', 'forged'],
  ['Payment-Receipt', 'forged'],
  ['X-Payment-Replayed', 'true'],
  ['Set-Cookie', 'quittance_0123456789abcdef=s~a~b'],
  ['WWW-Authenticate', 'Payment id="a", realm="b"'],
  ['WWW-Authenticate', 'Bearer realm="b", payment id="a"'],
])('an upstream cannot answer %s: %s in the name of the gate', (name, value) => {
  for (const isPaid of [true, false]) expect(answerHeaders([name, value], isPaid)).toEqual([]);
  expect(answerTrailers([name, value])).toEqual([]);
});

test.each([
  ['Set-Cookie', 'a=quittance_'],
  ['WWW-Authenticate', 'Bearer realm="payment"'],
  ['X-Cost', '0.40 USDC'],
])('an upstream answers %s: %s', (name, value) => {
  expect(answerHeaders([name, value], true)).toEqual([name, value]);
});

test.each([
  ['X-Forwarded-Method', false],
  ['X-Forwarded-Uri', false],
  ['X-Forwarded-For', false],
  ['X-Forwarded-Host', false],
  ['X-Real-IP', false],
  ['X-Settlement-Id', false],
  ['Quittance-Free', false],
  ['Content-Length', false],
  ['X_Custom', false],
  ['X_Forwarded_Uri', true],
  ['X.Forwarded.For', true],
  ['X_Settlement_Id', true],
  ['X-Original-URL', true],
  ['x-original-uri', true],
  ['X-Rewrite-URL', true],
  ['X-HTTP-Method', true],
  ['X-HTTP-Method-Override', true],
  ['X-Method-Override', true],
  ['X-Forwarded-Prefix', true],
  ['X-Forwarded-Path', true],
  ['X-Original-Method', true],
  ['X-Envoy-Original-Path', true],
  ['X-Matched-Path', true],
  ['Quittance-Settlement', true],
  ['quittance_usage', true],
  ['Quittance.Token', true],
])('a proxy that asks cannot pass %s on: %s', (name, expected) => {
  expect(hasUnremovable(['Accept', '*/*', name, 'a'])).toBe(expected);
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
