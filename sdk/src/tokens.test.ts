import { afterEach, expect, test } from '@jest/globals';
import type {
  QuoteClaims as Contract,
  SettlementClaims as ContractSettlement,
} from '../../shared/contract/tokens.ts';
import { signToken } from '../../shared/lib/compact-token.ts';
import { newId } from '../../shared/lib/id.ts';
import {
  errorOf,
  SERVICE,
  SIGNERS,
  startWorld,
  tokenFor,
  type World,
} from '../../test/support/scripted-vendors.ts';
import { createClient, NoAnswerError } from './main.ts';
import { BadTokenError, createTokenVerifier, type QuoteClaims, type SettlementClaims } from './tokens.ts';

let world: World;
afterEach(() => world?.stop());

const start = async () => {
  world = await startWorld();
  const { gateway } = createClient({ baseUrl: world.api.baseUrl, maxRetries: 0 });
  const verify = createTokenVerifier('test', async () => (await gateway.jwks({ environment: 'test' })).keys);
  return { verify, asked: world.api.asked };
};

const RESOURCE = 'https://a.example/b';
const token = tokenFor(RESOURCE);
const [payload, signature] = token.split('.') as [string, string];
const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
/** The same bytes spelled otherwise: the unused bits of the last character are free. */
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

test('what the API signed is read, its keys are asked for once', async () => {
  const { verify, asked } = await start();
  const [quote, settled] = await Promise.all([verify('quote', token), verify('settlement', settlement)]);
  expect(quote).toEqual(claims);
  expect(settled).toMatchObject({ typ: 'settlement', quote_amount: '1000' });
  await verify('quote', token);
  expect(asked.map(({ call }) => call)).toEqual(['GET /.well-known/jwks.json?environment=test']);
  // Both sides of the wire describe the same claims.
  const same: [(claims: Contract) => QuoteClaims, (claims: ContractSettlement) => SettlementClaims] = [
    (theirs) => theirs,
    (theirs) => theirs,
  ];
  expect(same).toHaveLength(2);
});

test.each([
  ['empty', ''],
  ['one part', payload],
  ['three parts', `${token}.x`],
  ['huge', `${'A'.repeat(20_000)}.${signature}`],
  ['altered payload', `${encode({ ...claims, quote_amount: '1' })}.${signature}`],
  ['altered signature', `${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`],
  ['signature spelled otherwise', `${payload}.${respell(signature)}`],
  ['padded', `${payload}=.${signature}`],
  ['plain base64', `${payload}.${signature.replaceAll('-', '+').replaceAll('_', '/')}+`],
  ['white space', `${payload} .${signature}`],
  ['a key that is not known', tokenFor(RESOURCE, {}, SIGNERS.unknown)],
  ['a key that lies about itself', tokenFor(RESOURCE, {}, SIGNERS.stranger)],
  ['a key of another use', tokenFor(RESOURCE, {}, SIGNERS.settlement)],
  ['the other environment', tokenFor(RESOURCE, { env: 'live' }, SIGNERS.live)],
  ['the other environment, signed by this one', tokenFor(RESOURCE, { env: 'live' })],
  ['this environment, signed by the other', tokenFor(RESOURCE, {}, SIGNERS.live)],
  ['a settlement token', settlement],
  ['another type, signed as a quote', tokenFor(RESOURCE, { typ: 'settlement' })],
  ['no object', `${encode(null)}.${signature}`],
  ['kid of the prototype', `${encode({ ...claims, kid: '__proto__' })}.${signature}`],
  ['an amount with a sign', tokenFor(RESOURCE, { quote_amount: '-1' })],
  ['an amount that is a number', tokenFor(RESOURCE, { quote_amount: 1000 })],
  ['another currency', tokenFor(RESOURCE, { currency: 'EUR' })],
  ['no time of expiry', tokenFor(RESOURCE, { expires_at: 'never' })],
])('refused: %s', async (_name, forged) => {
  const { verify } = await start();
  await expect(verify('quote', forged)).rejects.toThrow(BadTokenError);
});

test('a key that came later is asked for, and unknown ones in a row ask once', async () => {
  const { verify, asked } = await start();
  for (let i = 0; i < 5; i += 1)
    await expect(verify('quote', tokenFor(RESOURCE, {}, SIGNERS.unknown))).rejects.toThrow(BadTokenError);
  expect(asked).toHaveLength(1);
});

test('keys that cannot be had are nobody’s fault but the API’s, and asked for again', async () => {
  const { verify } = await start();
  world.script.keys = () => 'lost';
  const error = await errorOf(verify('quote', token) as Promise<never>);
  expect(error).toBeInstanceOf(NoAnswerError);
  world.script.keys = () => null;
  expect(await verify('quote', token)).toEqual(claims);
});
