import { expect, test } from '@jest/globals';
import { newId } from '../../../../shared/lib/id.ts';
import { loginToken, openRefreshToken, refreshToken, tokenHash, tokenWithHash } from './tokens.ts';

const secret = Buffer.alloc(32, 1);
const other = Buffer.alloc(32, 2);
const sessionId = 'ses_01jd3h9zv4f2k8m6q0w5x7y9ab';
const token = refreshToken(secret, 'test', { sessionId, generation: 2 });

test('a login token is the same each time, and differs by link, environment and secret', () => {
  const tokens = [
    loginToken(secret, 'test', 'link_1'),
    loginToken(secret, 'test', 'link_2'),
    loginToken(secret, 'live', 'link_1'),
    loginToken(other, 'test', 'link_1'),
  ];
  expect(new Set(tokens.map((text) => text.slice(8))).size).toBe(4);
  expect(loginToken(secret, 'test', 'link_1')).toBe(tokens[0]);
  expect(tokens[0]).toMatch(/^ml_test_[A-Za-z0-9_-]{43}$/);
  expect(tokenHash(tokens[0]!)).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test('a refresh token of a new session id can be opened', () => {
  const fresh = { sessionId: newId('ses'), generation: 1 };
  expect(openRefreshToken([secret], 'test', refreshToken(secret, 'test', fresh))).toEqual(fresh);
});

test.each([
  ['as issued', token, { sessionId, generation: 2 }],
  ['generation changed', token.replace('_2_', '_3_'), null],
  ['generation with a leading zero', token.replace('_2_', '_02_'), null],
  ['session changed', token.replace('01jd', '01je'), null],
  ['environment changed', token.replace('rt_test', 'rt_live'), null],
  ['made for the other environment', refreshToken(secret, 'live', { sessionId, generation: 2 }), null],
  ['made with another secret', refreshToken(other, 'test', { sessionId, generation: 2 }), null],
  ['mac changed', token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A'), null],
  ['line feed at the end', `${token}\n`, null],
  ['a login token', loginToken(secret, 'test', 'link_1'), null],
  ['empty', '', null],
])('refresh token: %s', (_name, text, expected) => {
  expect(openRefreshToken([secret], 'test', text)).toEqual(expected);
});

test('a token of each secret of the list is read, and one of a removed secret is not', () => {
  const rotated = [Buffer.alloc(32, 3), secret];
  expect(openRefreshToken(rotated, 'test', token)).toEqual({ sessionId, generation: 2 });
  expect(openRefreshToken([rotated[0]!], 'test', token)).toBeNull();
});

test('the token of a link is that with its hash, whichever secret is the first now', () => {
  const tokenOf = (each: Buffer) => loginToken(each, 'test', 'link_1');
  const hash = tokenHash(tokenOf(secret));
  for (const secrets of [[secret], [secret, other], [other, secret]])
    expect(tokenWithHash(secrets, tokenOf, hash)).toBe(tokenOf(secret));
  expect(tokenWithHash([other], tokenOf, null)).toBe(tokenOf(other));
});
