import { describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../contract/errors.ts';
import { privateKeyFromSeed, publicKeyFromRaw, rawPublicKey } from '../chain/ed25519.ts';
import { newId, newServiceId } from '../id.ts';
import { readToken, signToken, unverifiedClaims, verifyToken } from './compact-token.ts';
import type { PublicKey } from './keys.ts';

const keyPair = (kid: string, fill: number) => {
  const key = privateKeyFromSeed(new Uint8Array(32).fill(fill));
  const [env, use] = kid.split('.') as [string, PublicKey['use']];
  const raw = rawPublicKey(key);
  const ends = { retiredAt: null, compromisedAt: null };
  const publicKey: PublicKey = { kid, env, use, x: '', key: publicKeyFromRaw(raw), ...ends };
  return { signing: { kid, key }, publicKey };
};
const quote = keyPair('test.quote.1', 1);
const settlement = keyPair('test.settlement.1', 2);
const live = keyPair('live.quote.1', 3);
const stranger = keyPair('test.quote.1', 4);
const keys = new Map([quote, settlement, live].map(({ publicKey }) => [publicKey.kid, publicKey]));
const test_ = { env: 'test', keys };

const claims = {
  env: 'test' as const,
  quote_id: newId('q'),
  vendor_account_id: newId('acct'),
  service_id: newServiceId(),
  service_name: 'Wetter – 天気',
  payout_address: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
  mint: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
  quote_amount: '2500000',
  fee_amount: '12500',
  currency: 'USDC' as const,
  issued_at: '2026-11-21T10:00:00.000Z',
  expires_at: '2026-11-21T10:10:00.000Z',
  redeem_window_seconds: 900,
  scope: { resource: 'GET /forecast' },
};
const token = signToken('quote', claims, quote.signing);
const [payload, signature] = token.split('.') as [string, string];
const json = JSON.parse(Buffer.from(payload, 'base64url').toString());
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
/** Another encoding of the same bytes: base64url ignores the unused bits of the last character. */
const respell = (part: string) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const other = alphabet[alphabet.indexOf(part.at(-1)!) + 1]!;
  return part.slice(0, -1) + other;
};

test('a token carries its claims', () => {
  expect(verifyToken('quote', token, test_)).toEqual({ typ: 'quote', kid: 'test.quote.1', ...claims });
  expect(signToken('quote', claims, quote.signing)).toBe(token);
});

test('the unverified claims of a token with an unknown key are readable, and those of another token are null', () => {
  const forged = signToken('quote', claims, { ...quote.signing, kid: 'test.quote.9' });
  expect(unverifiedClaims('quote', forged)).toEqual({ typ: 'quote', kid: 'test.quote.9', ...claims });
  for (const other of ['', 'a.b', encode(null), encode({ ...json, quote_id: 1 })])
    expect(unverifiedClaims('quote', other)).toBeNull();
  expect(unverifiedClaims('settlement', token)).toBeNull();
});

describe('a token is refused with 400', () => {
  test.each([
    ['empty', ''],
    ['one part', payload],
    ['three parts', `${token}.x`],
    ['altered payload', `${encode({ ...json, quote_amount: '1' })}.${signature}`],
    ['altered signature', `${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`],
    [
      'parts of two tokens',
      `${payload}.${signToken('quote', { ...claims, quote_id: newId('q') }, quote.signing).split('.')[1]}`,
    ],
    ['other encoding of the signature', `${payload}.${respell(signature)}`],
    ['padded', `${payload}=.${signature}`],
    ['unknown kid', signToken('quote', claims, { ...quote.signing, kid: 'test.quote.9' })],
    ['kid of another use', signToken('quote', claims, settlement.signing)],
    ['kid of another key', signToken('quote', claims, stranger.signing)],
    ['another environment’s key', signToken('quote', { ...claims, env: 'live' }, live.signing)],
    ['a live claim signed by a test key', signToken('quote', { ...claims, env: 'live' }, quote.signing)],
    ['payload that is no object', `${encode(null)}.${signature}`],
    ['kid ../', `${encode({ ...json, kid: '../../' })}.${signature}`],
    ['kid of the prototype', `${encode({ ...json, kid: '__proto__' })}.${signature}`],
  ])('%s', (_name, forged) => {
    expect(() => verifyToken('quote', forged, test_)).toThrow(ServiceError);
    try {
      verifyToken('quote', forged, test_);
    } catch (error) {
      expect(error).toMatchObject({ code: 'validation_error' });
    }
  });

  test.each([
    ['a claim', { ...claims, later: true }],
    ['a scope', { ...claims, scope: 5 }],
  ])('%s of another version is not guessed: it may be a term of the payment', (_name, later) => {
    const signed = signToken('quote', later as never, quote.signing);
    for (const read of [verifyToken, readToken])
      expect(() => read('quote', signed, test_)).toThrow(
        expect.objectContaining({ code: 'service_unavailable' }),
      );
    const forged = `${encode({ ...json, ...later })}.${signature}`;
    expect(() => verifyToken('quote', forged, test_)).toThrow(
      expect.objectContaining({ code: 'validation_error' }),
    );
  });

  test.each([
    [
      'an altered one',
      `${encode({ ...json, quote_amount: '1' })}.${signature}`,
      'was changed: its signature does not match',
    ],
    [
      'one of another environment',
      signToken('quote', { ...claims, env: 'live' }, live.signing),
      'is a token of the environment live, and the credential is of test',
    ],
    [
      'one of an unknown key',
      signToken('quote', claims, { ...quote.signing, kid: 'test.quote.9' }),
      'is not a quote token of this environment',
    ],
    ['no token', 'YWI.YWI', 'is malformed; send it unchanged'],
  ])('the message names the cause: %s', (_name, forged, message) => {
    expect(() => verifyToken('quote', forged, test_)).toThrow(`quote_token: ${message}`);
  });

  test('a settlement token is refused as a quote token, and a quote token as a settlement token', () => {
    const settled = signToken(
      'settlement',
      {
        env: 'test',
        settlement_id: newId('stl'),
        quote_id: claims.quote_id,
        service_id: claims.service_id,
        quote_amount: '2500000',
        issued_at: claims.issued_at,
        redeem_expires_at: claims.expires_at,
      },
      settlement.signing,
    );
    expect(verifyToken('settlement', settled, test_).typ).toBe('settlement');
    expect(() => verifyToken('quote', settled, test_)).toThrow(
      'quote_token: is a settlement token; send the quote token',
    );
    expect(() => verifyToken('settlement', token, test_)).toThrow(
      'settlement_token: is a quote token; send the settlement token',
    );
  });
});

describe('a key that has ended', () => {
  const RETIRED_AT = Date.parse('2026-11-21T10:05:00.000Z');
  const at = (ms: number) => new Date(RETIRED_AT + ms).toISOString();
  const withKey = (typ: 'quote' | 'settlement', ends: Partial<PublicKey>) => {
    const { publicKey } = { quote, settlement }[typ];
    return { env: 'test', keys: new Map([[publicKey.kid, { ...publicKey, ...ends }]]) };
  };
  const retired = { retiredAt: RETIRED_AT };
  const quoteOf = (issuedMs: number, expiresMs: number) =>
    signToken('quote', { ...claims, issued_at: at(issuedMs), expires_at: at(expiresMs) }, quote.signing);
  const settlementOf = (issuedMs: number) =>
    signToken(
      'settlement',
      {
        env: 'test',
        settlement_id: newId('stl'),
        quote_id: claims.quote_id,
        service_id: claims.service_id,
        quote_amount: '2500000',
        issued_at: at(issuedMs),
        redeem_expires_at: at(900_000),
      },
      settlement.signing,
    );
  const DAY = 86_400_000;

  test.each([
    ['a quote of that moment', 'quote', quoteOf(0, 600_000), true],
    ['a quote of the next millisecond', 'quote', quoteOf(1, 600_000), false],
    ['the longest quote of that moment', 'quote', quoteOf(0, DAY), true],
    ['a quote that is dated back and lives longer than any', 'quote', quoteOf(-1, DAY + 60_001), false],
    ['a settlement of that moment', 'settlement', settlementOf(0), true],
    ['a settlement of the next millisecond', 'settlement', settlementOf(1), false],
  ] as const)('retired: %s', (_name, typ, text, inForce) => {
    const options = withKey(typ, retired);
    if (inForce) expect(verifyToken(typ, text, options).typ).toBe(typ);
    else
      expect(() => verifyToken(typ, text, options)).toThrow(
        `${typ}_token: was signed by a key that is no longer in force; get a new ${typ}`,
      );
    const read = readToken(typ, text, options);
    expect(read.claimsFor('newPayment')?.typ).toBe(inForce ? typ : undefined);
    expect(read.claimsFor('followUp').typ).toBe(typ);
  });

  test('compromised: nothing that it signed is in force, whatever its time', () => {
    for (const [typ, text] of [
      ['quote', quoteOf(-DAY, -DAY + 600_000)],
      ['settlement', settlementOf(-DAY)],
    ] as const) {
      const options = withKey(typ, { compromisedAt: RETIRED_AT });
      expect(() => verifyToken(typ, text, options)).toThrow('no longer in force');
      const read = readToken(typ, text, options);
      expect(read.claimsFor('newPayment')).toBeNull();
      expect(read.claimsFor('followUp').typ).toBe(typ);
    }
  });
});
