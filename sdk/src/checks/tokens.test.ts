import { afterEach, expect, test } from '@jest/globals';
import type {
  QuoteClaims as Contract,
  SettlementClaims as ContractSettlement,
} from '../../../shared/contract/tokens.ts';
import { newId } from '../../../shared/lib/id.ts';
import { signToken } from '../../../shared/lib/tokens/compact-token.ts';
import {
  errorOf,
  type Harness,
  SERVICE,
  SIGNERS,
  startHarness,
  tokenFor,
} from '../../../test/support/stand-ins/scripted-vendors.ts';
import { createClient, NoAnswerError } from '../main.ts';
import { BadTokenError, createTokenVerifier, type QuoteClaims, type SettlementClaims } from './tokens.ts';

let harness: Harness;
afterEach(() => harness?.stop());

const start = async () => {
  harness = await startHarness();
  const { gateway } = createClient({ baseUrl: harness.api.baseUrl, maxRetries: 0 });
  const verify = createTokenVerifier('test', async () => (await gateway.jwks({ environment: 'test' })).keys);
  return { verify, asked: harness.api.asked };
};

const RESOURCE = 'https://a.example/b';
const token = tokenFor(RESOURCE);
const [payload, signature] = token.split('.') as [string, string];
const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
/** Another encoding of the same bytes: the unused bits of the last character are ignored. */
const respell = (part: string) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return part.slice(0, -1) + alphabet[alphabet.indexOf(part.at(-1)!) + 1]!;
};
const settlement = signToken(
  'settlement',
  {
    env: 'test',
    settlement_id: newId('stl'),
    quote_id: newId('q'),
    service_id: SERVICE,
    quote_amount: '1000',
    issued_at: new Date().toISOString(),
    redeem_expires_at: new Date().toISOString(),
  },
  SIGNERS.settlement,
);

test('a token of the API is verified, and its keys are loaded once', async () => {
  const { verify, asked } = await start();
  const [quote, settled] = await Promise.all([verify('quote', token), verify('settlement', settlement)]);
  expect(quote).toEqual(claims);
  expect(settled).toMatchObject({ typ: 'settlement', quote_amount: '1000' });
  await verify('quote', token);
  expect(asked.map(({ call }) => call)).toEqual(['GET /.well-known/jwks.json?environment=test']);
  // The SDK and the contract declare the same claims.
  const same: [(claims: Contract) => QuoteClaims, (claims: ContractSettlement) => SettlementClaims] = [
    (theirs) => theirs,
    (theirs) => theirs,
  ];
  expect(same).toHaveLength(2);
});

test('no caller can change the claims that the next one gets', async () => {
  const { verify } = await start();
  const first = await verify('quote', token);
  expect(() => Object.assign(first, { quote_amount: '1' })).toThrow(TypeError);
  expect(() => Object.assign(first.scope!, { resource: 'https://b.example/' })).toThrow(TypeError);
  expect(await verify('quote', token)).toEqual(claims);
  await expect(verify('settlement', token)).rejects.toThrow(BadTokenError);
});

test.each([
  ['empty', ''],
  ['one part', payload],
  ['three parts', `${token}.x`],
  ['huge', `${'A'.repeat(20_000)}.${signature}`],
  ['altered payload', `${encode({ ...claims, quote_amount: '1' })}.${signature}`],
  ['altered signature', `${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`],
  ['another encoding of the signature', `${payload}.${respell(signature)}`],
  ['padded', `${payload}=.${signature}`],
  ['plain base64', `${payload}.${signature.replaceAll('-', '+').replaceAll('_', '/')}+`],
  ['white space', `${payload} .${signature}`],
  ['an unknown key', tokenFor(RESOURCE, {}, SIGNERS.unknown)],
  ['another key under the same kid', tokenFor(RESOURCE, {}, SIGNERS.stranger)],
  ['a key of another use', tokenFor(RESOURCE, {}, SIGNERS.settlement)],
  ['the other environment', tokenFor(RESOURCE, { env: 'live' }, SIGNERS.live)],
  ['a claim of the other environment, signed by this one', tokenFor(RESOURCE, { env: 'live' })],
  ['a claim of this environment, signed by the other one', tokenFor(RESOURCE, {}, SIGNERS.live)],
  ['a settlement token', settlement],
  ['another type, signed as a quote', tokenFor(RESOURCE, { typ: 'settlement' })],
  ['no object', `${encode(null)}.${signature}`],
  ['kid of the prototype', `${encode({ ...claims, kid: '__proto__' })}.${signature}`],
  ['an amount with a sign', tokenFor(RESOURCE, { quote_amount: '-1' })],
  ['an amount that is a number', tokenFor(RESOURCE, { quote_amount: 1000 })],
  ['another currency', tokenFor(RESOURCE, { currency: 'EUR' })],
  ['an invalid expiry', tokenFor(RESOURCE, { expires_at: 'never' })],
])('refused: %s', async (_name, forged) => {
  const { verify } = await start();
  await expect(verify('quote', forged)).rejects.toThrow(BadTokenError);
});

test('a newly published key is loaded, and several unknown keys cause one request', async () => {
  const { verify, asked } = await start();
  for (let i = 0; i < 5; i += 1)
    await expect(verify('quote', tokenFor(RESOURCE, {}, SIGNERS.unknown))).rejects.toThrow(BadTokenError);
  expect(asked).toHaveLength(1);
});

test('a failed load of the keys throws the error of the API, and the next token loads them again', async () => {
  const { verify } = await start();
  harness.script.keys = () => 'lost';
  const error = await errorOf(verify('quote', token) as Promise<never>);
  expect(error).toBeInstanceOf(NoAnswerError);
  harness.script.keys = () => null;
  expect(await verify('quote', token)).toEqual(claims);
});
