import { expect, test } from '@jest/globals';
import { type JWTPayload, SignJWT } from 'jose';
import { ACCESS_TOKEN_SECONDS, signAccessToken, verifyAccessToken } from './access-token.ts';
import { privateKeyFromSeed, rawPublicKey, signBytes } from './ed25519.ts';
import { newId } from './id.ts';
import { PublicKeyList, type SigningKey } from './keys.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const signing = (kid: string, fill: number): SigningKey => ({
  kid,
  key: privateKeyFromSeed(Buffer.alloc(32, fill)),
});
const session = signing('test.session.1', 1);
const live = signing('live.session.1', 2);
const quote = signing('test.quote.1', 3);
const retired = signing('test.session.2', 4);
const x = ({ key }: SigningKey) => Buffer.from(rawPublicKey(key)).toString('base64url');
const keys = PublicKeyList.parse(
  JSON.stringify([
    ...[session, live, quote].map((key) => ({ kid: key.kid, x: x(key) })),
    { kid: retired.kid, x: x(retired), retired_at: new Date(NOW).toISOString() },
  ]),
);

const claims = {
  accountId: newId('acct'),
  sessionId: newId('ses'),
  environment: 'test',
  amr: ['email'],
  authTime: NOW / 1000 - 3600,
  now: NOW,
} as const;
const valid = await signAccessToken(claims, session);
const expected = {
  accountId: claims.accountId,
  sessionId: claims.sessionId,
  authTime: claims.authTime,
  env: 'test',
  expiresAt: NOW + ACCESS_TOKEN_SECONDS * 1000,
};
const part = (token: string, at: number) => token.split('.')[at]!;
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const payload = JSON.parse(Buffer.from(part(valid, 1), 'base64url').toString()) as JWTPayload;

const forged = (changes: object, header: object = {}, key: SigningKey = session) =>
  new SignJWT({ ...payload, ...changes })
    .setProtectedHeader({ alg: 'EdDSA', kid: key.kid, ...header })
    .sign(key.key);
const unsigned = `${encode({ alg: 'none', kid: session.kid })}.${part(valid, 1)}.`;
const hs256 = await new SignJWT(payload)
  .setProtectedHeader({ alg: 'HS256', kid: session.kid })
  .sign(rawPublicKey(session.key));
const demanding = `${encode({ alg: 'EdDSA', kid: session.kid, crit: ['more'], more: 1 })}.${part(valid, 1)}`;
const critical = `${demanding}.${Buffer.from(signBytes(Buffer.from(demanding), session.key)).toString('base64url')}`;
// The last of 86 characters has 2 unused bits, so the same signature has another encoding.
const respelled = (token: string) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return token.slice(0, -1) + alphabet[alphabet.indexOf(token.at(-1)!) ^ 1]!;
};

test('an access token has the claims of docs/spec/decisions.md and no others', () => {
  expect(payload).toEqual({
    iss: 'quittance',
    aud: 'quittance-api',
    sub: claims.accountId,
    sid: claims.sessionId,
    env: 'test',
    amr: ['email'],
    auth_time: claims.authTime,
    jti: expect.any(String),
    iat: NOW / 1000,
    exp: NOW / 1000 + ACCESS_TOKEN_SECONDS,
  });
});

test.each([
  ['as signed', valid, NOW, expected],
  ['in its last second', valid, NOW + ACCESS_TOKEN_SECONDS * 1000 - 1, expected],
  ['at its expiry', valid, NOW + ACCESS_TOKEN_SECONDS * 1000, null],
  [
    'live',
    await signAccessToken({ ...claims, environment: 'live' }, live),
    NOW,
    { ...expected, env: 'live' },
  ],
  ['a live claim signed by a test key', await forged({ env: 'live' }), NOW, null],
  ['a test claim signed by a live key', await forged({}, {}, live), NOW, null],
  ['key of another use', await forged({}, {}, quote), NOW, null],
  ['kid of another key', await forged({}, { kid: live.kid }), NOW, null],
  ['kid of a path', await forged({}, { kid: '../test.session.1' }), NOW, null],
  ['no kid', await forged({}, { kid: undefined }), NOW, null],
  ['alg none', unsigned, NOW, null],
  ['HS256 with the public key', hs256, NOW, null],
  ['foreign issuer', await forged({ iss: 'elsewhere' }), NOW, null],
  ['foreign audience', await forged({ aud: 'elsewhere' }), NOW, null],
  ['no expiry', await forged({ exp: undefined }), NOW, null],
  ['an extension that must be understood', critical, NOW, null],
  ['not valid yet', await forged({ nbf: NOW / 1000 + 60 }), NOW, null],
  ['no jti', await forged({ jti: undefined }), NOW, null],
  ['no session', await forged({ sid: undefined }), NOW, null],
  ['subject is no account', await forged({ sub: 'root' }), NOW, null],
  ['payload altered', valid.replace(part(valid, 1), encode({ ...payload, sub: newId('acct') })), NOW, null],
  ['other encoding of the signature', respelled(valid), NOW, null],
  ['signed just before its key was retired', await signAccessToken(claims, retired), NOW, expected],
  [
    'signed long after its key was retired',
    await signAccessToken({ ...claims, now: NOW + 3_600_000 }, retired),
    NOW + 3_600_000,
    null,
  ],
  ['empty', '', NOW, null],
  ['no token at all', 'a.b.c', NOW, null],
  ['__proto__ as kid', await forged({}, { kid: '__proto__' }), NOW, null],
])('an access token is verified: %s', async (_name, token, now, outcome) => {
  expect(await verifyAccessToken(token, { keys, now })).toEqual(outcome);
});
