import { expect, test } from '@jest/globals';
import { type JWTPayload, SignJWT } from 'jose';
import { privateKeyFromSeed, rawPublicKey, signBytes } from '../chain/ed25519.ts';
import { newId } from '../id.ts';
import { ACCESS_TOKEN_SECONDS, signAccessToken, verifyAccessToken } from './access-token.ts';
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
  amr: claims.amr,
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

const invalid = { expiredAt: null };
/** The signature is ours, so the holder may read since when it is refused. */
const expired = { expiredAt: NOW + ACCESS_TOKEN_SECONDS * 1000 };

test.each([
  ['as signed', valid, NOW, expected],
  ['in its last second', valid, NOW + ACCESS_TOKEN_SECONDS * 1000 - 1, expected],
  ['at its expiry', valid, NOW + ACCESS_TOKEN_SECONDS * 1000, expired],
  [
    'live',
    await signAccessToken({ ...claims, environment: 'live' }, live),
    NOW,
    { ...expected, env: 'live' },
  ],
  ['a live claim signed by a test key', await forged({ env: 'live' }), NOW, invalid],
  ['a test claim signed by a live key', await forged({}, {}, live), NOW, invalid],
  ['key of another use', await forged({}, {}, quote), NOW, invalid],
  ['kid of another key', await forged({}, { kid: live.kid }), NOW, invalid],
  ['kid of a path', await forged({}, { kid: '../test.session.1' }), NOW, invalid],
  ['no kid', await forged({}, { kid: undefined }), NOW, invalid],
  ['alg none', unsigned, NOW, invalid],
  ['HS256 with the public key', hs256, NOW, invalid],
  ['foreign issuer', await forged({ iss: 'elsewhere' }), NOW, invalid],
  ['foreign audience', await forged({ aud: 'elsewhere' }), NOW, invalid],
  ['no expiry', await forged({ exp: undefined }), NOW, invalid],
  ['an extension that must be understood', critical, NOW, invalid],
  ['not valid yet', await forged({ nbf: NOW / 1000 + 60 }), NOW, invalid],
  ['no jti', await forged({ jti: undefined }), NOW, invalid],
  ['no session', await forged({ sid: undefined }), NOW, invalid],
  // It could be that of a device, which may do less.
  ['no method of the sign-in', await forged({ amr: undefined }), NOW, invalid],
  ['an empty list of methods', await forged({ amr: [] }), NOW, invalid],
  ['subject is no account', await forged({ sub: 'root' }), NOW, invalid],
  [
    'payload altered',
    valid.replace(part(valid, 1), encode({ ...payload, sub: newId('acct') })),
    NOW,
    invalid,
  ],
  ['other encoding of the signature', respelled(valid), NOW, invalid],
  ['signed just before its key was retired', await signAccessToken(claims, retired), NOW, expected],
  [
    'signed long after its key was retired',
    await signAccessToken({ ...claims, now: NOW + 3_600_000 }, retired),
    NOW + 3_600_000,
    invalid,
  ],
  ['expired and altered', respelled(valid), NOW + ACCESS_TOKEN_SECONDS * 1000, invalid],
  [
    'expired and signed by another key',
    await forged({}, { kid: live.kid }),
    NOW + ACCESS_TOKEN_SECONDS * 1000,
    invalid,
  ],
  ['empty', '', NOW, invalid],
  ['no token at all', 'a.b.c', NOW, invalid],
  ['__proto__ as kid', await forged({}, { kid: '__proto__' }), NOW, invalid],
])('an access token is verified: %s', async (_name, token, now, outcome) => {
  expect(await verifyAccessToken(token, { keys, now })).toEqual(outcome);
});
