import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { challengeOf, charge, SERVICE_WALLET } from '../../../../test/support/stand-ins/scripted-vendors.ts';
import { readCall } from '../base/call.ts';
import { payeesOfPrice } from '../base/price.ts';
import { challengesIn, mppOffers } from './mpp-offers.ts';
import { priceOf } from './outgoing-offers.ts';

const MINT = charge().currency;
const DEVNET = { x402_network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', usdc_mint: MINT };

test.each<[string, string, Record<string, string>[]]>([
  ['one challenge', 'Payment id="a", realm="b"', [{ id: 'a', realm: 'b' }]],
  ['two in one header', 'Payment id="a", realm="b", Payment id="c"', [{ id: 'a', realm: 'b' }, { id: 'c' }]],
  ['other schemes', 'Basic realm="x", Payment id="a", Bearer', [{ id: 'a' }]],
  ['a scheme in another case', 'PAYMENT ID="a"', [{ id: 'a' }]],
  ['texts without quotes', 'Payment id=a,realm = b', [{ id: 'a', realm: 'b' }]],
  [
    'a scheme inside of a text',
    'Payment realm="x, Payment id=y", id="a"',
    [{ realm: 'x, Payment id=y', id: 'a' }],
  ],
  ['escapes', String.raw`Payment realm="a \"b\" \\ \u20ac"`, [{ realm: 'a "b" \\ €' }]],
  ['a repeated parameter', 'Payment id="a", id="b", Payment id="c"', [{ id: 'c' }]],
  ['no scheme', 'id="a"', []],
  ['an open quotation mark', 'Payment id="a", realm="b', []],
  ['nothing', '', []],
])('a header with %s', (_name, header, expected) => {
  expect(challengesIn(header)).toEqual(expected);
});

test('a header of 64 KB that never ends is read in no time', () => {
  for (const part of ['Payment ', 'a="', '\\', '"', ',', 'a=', ' a'])
    expect(
      challengesIn(`Payment id="a", ${part.repeat(65_000 / part.length)}`).length,
    ).toBeGreaterThanOrEqual(0);
});

const read = (...challenges: string[]) =>
  mppOffers.read(new Response('', { status: 402, headers: { 'www-authenticate': challenges.join(', ') } }));

test('the offer has the parameters of the challenge, and no other', async () => {
  const [offer] = await read(challengeOf(charge(), { opaque: 'e30', description: 'A report', more: 'x' }));
  const { request, ...challenge } = offer!.challenge;
  expect(challenge).toEqual({
    ...{ id: 'c1', realm: 'vendor', method: 'solana', intent: 'charge' },
    ...{ opaque: 'e30', description: 'A report' },
  });
  expect(JSON.parse(Buffer.from(request, 'base64url').toString())).toEqual(charge());
  expect(mppOffers.priceOf(offer!)).toEqual({
    amount: '1000',
    mint: MINT,
    payTo: SERVICE_WALLET,
    splits: [],
  });
});

test('the price of an offer has everybody whom it pays', async () => {
  const splits = [
    { recipient: OTHER, amount: '998', memo: 'fee' },
    { recipient: SERVICE_WALLET, amount: '1' },
  ];
  const [offer] = await read(challengeOf(charge({}, { splits })));
  const price = priceOf(offer!, 'https://vendor.example.com/a');
  expect(price).toMatchObject({
    ...{ quote_amount: '1000', payout_address: SERVICE_WALLET },
    payees: [
      { address: SERVICE_WALLET, amount: '2' },
      { address: OTHER, amount: '998' },
    ],
  });
  expect(payeesOfPrice(price)).toEqual(price.payees);
});

test('a payment is in the header that its challenge names, which the API repeats', async () => {
  const [usual, own] = await read(
    challengeOf(charge()),
    challengeOf(charge(), { header: 'Payment-Authorization' }),
  );
  expect(mppOffers.headers(usual!, 'Payment x')).toEqual({ authorization: 'Payment x' });
  expect(mppOffers.headers(own!, 'Payment x')).toEqual({ 'payment-authorization': 'Payment x' });
  expect(mppOffers.asked(own!)).toMatchObject({ challenge: { header: 'Payment-Authorization' } });
});

const OTHER = 'Vote111111111111111111111111111111111111111';
const BODY = '{"city":"Bern"}';
const digest = createHash('sha256').update(BODY).digest('base64');

const isPayable = async (challenge: string, init: RequestInit = {}, network = DEVNET) => {
  const [offer] = await read(challenge);
  const call = await readCall('https://vendor.example.com', { method: 'POST', body: BODY, ...init }, 1000);
  return offer !== undefined && mppOffers.isPayable(offer, network, call);
};

test.each<[string, string, RequestInit?]>([
  ['as the API expects it', challengeOf(charge())],
  ['with splits', challengeOf(charge({}, { splits: [{ recipient: OTHER, amount: '999' }] }))],
  ['with no splits', challengeOf(charge({}, { splits: [] }))],
  ['that ends later', challengeOf(charge(), { expires: new Date(Date.now() + 60_000).toISOString() })],
  ['for this body', challengeOf(charge(), { digest: `sha-256=${digest}` })],
  ['for this body, as RFC 9530 writes it', challengeOf(charge(), { digest: `sha-256=:${digest}:` })],
  [
    'beside the caller’s own credential, in the header that the draft has for it',
    challengeOf(charge(), { header: 'Payment-Authorization' }),
    { headers: { authorization: 'Bearer x' } },
  ],
  [
    'whose kind the caller accepts',
    challengeOf(charge()),
    { headers: { 'accept-payment': 'tempo/*, solana/charge;q=0.1' } },
  ],
])('an offer %s is payable', async (_name, challenge, init = {}) => {
  expect(await isPayable(challenge, init)).toBe(true);
});

test('the symbol is the mint of the network', async () => {
  const symbol = challengeOf(charge({ currency: 'USDC' }));
  expect(await isPayable(symbol)).toBe(false);
  const mint = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
  expect(await isPayable(symbol, {}, { ...DEVNET, usdc_mint: mint })).toBe(true);
  const [offer] = await read(symbol);
  expect(mppOffers.priceOf(offer!).mint).toBe(mint);
});

test.each<[string, string, RequestInit?]>([
  ['another method', challengeOf(charge(), { method: 'tempo' })],
  ['another intent', challengeOf(charge(), { intent: 'session' })],
  ['another header for the payment', challengeOf(charge(), { header: 'x-api-key' })],
  ['the usual header by its name', challengeOf(charge(), { header: 'Authorization' })],
  ['an empty id', challengeOf(charge(), { id: '' })],
  [
    'a kind that the caller does not accept',
    challengeOf(charge()),
    { headers: { 'accept-payment': 'tempo/charge' } },
  ],
  ['no fee payer', challengeOf(charge({}, { feePayer: false }))],
  ['no key of its fee payer', challengeOf(charge({}, { feePayerKey: undefined }))],
  ['another network', challengeOf(charge({}, { network: 'mainnet-beta' }))],
  ['no network, which is mainnet', challengeOf(charge({}, { network: undefined }))],
  ['another mint', challengeOf(charge({ currency: SERVICE_WALLET }))],
  ['SOL', challengeOf(charge({ currency: 'sol' }))],
  ['a number as its amount', challengeOf(charge({ amount: 1000 }))],
  ['a negative amount', challengeOf(charge({ amount: '-1' }))],
  ['splits of all', challengeOf(charge({}, { splits: [{ recipient: OTHER, amount: '1000' }] }))],
  ['splits of more', challengeOf(charge({}, { splits: Array(2).fill({ recipient: OTHER, amount: '999' }) }))],
  ['a split of nothing', challengeOf(charge({}, { splits: [{ recipient: OTHER, amount: '0' }] }))],
  ['a number as a split', challengeOf(charge({}, { splits: [{ recipient: OTHER, amount: 1 }] }))],
  ['a split to nobody', challengeOf(charge({}, { splits: [{ amount: '1' }] }))],
  ['a split that is none', challengeOf(charge({}, { splits: [null] }))],
  ['splits that are no list', challengeOf(charge({}, { splits: { recipient: OTHER, amount: '1' } }))],
  ['null as its splits', challengeOf(charge({}, { splits: null }))],
  ['no recipient', challengeOf(charge({ recipient: undefined }))],
  ['an end that is over', challengeOf(charge(), { expires: new Date(Date.now() - 1000).toISOString() })],
  ['an end that is no time', challengeOf(charge(), { expires: 'soon' })],
  ['the digest of another body', challengeOf(charge(), { digest: `sha-256=${digest.replace(/./, '_')}` })],
  ['another kind of digest', challengeOf(charge(), { digest: 'md5=abc' })],
  ['a request that is no JSON', challengeOf(charge(), { request: 'abc' })],
  ['9 KB of additions', challengeOf(charge({ description: 'x'.repeat(9000) }))],
  [
    'the header of the caller’s own credential',
    challengeOf(charge()),
    { headers: { authorization: 'Bearer x' } },
  ],
])('an offer with %s is not payable', async (_name, challenge, init = {}) => {
  expect(await isPayable(challenge, init)).toBe(false);
});
