import { describe, expect, test } from '@jest/globals';
import { jsonBase64Url } from '../../../sdk/src/checks/encoding.ts';
import type { Keys } from '../../../sdk/src/checks/tokens.ts';
import { privateKeyFromSeed, rawPublicKey } from '../../../shared/lib/chain/ed25519.ts';
import { signToken } from '../../../shared/lib/tokens/compact-token.ts';
import { readOrder } from './order.ts';
import { TEXTS } from './texts.ts';

const RESOURCE = 'https://shop.example/report';
const MINT = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
const OFFER = {
  scheme: 'exact',
  network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  amount: '1000',
  asset: MINT,
  payTo: MINT,
  extra: { feePayer: 'F', memo: `0.001 USDC to shop.example ${'h'.repeat(22)}`, offer: 'o.p' },
};
const NOW = Date.now();
const kid = 'test.quote.1';
const own = privateKeyFromSeed(new Uint8Array(32).fill(1));
/** Claims to be the API's key, and is not. */
const STRANGER = privateKeyFromSeed(new Uint8Array(32).fill(2));
const x = Buffer.from(rawPublicKey(own)).toString('base64url');
const KEYS = [{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid, x, env: 'test' }];
const tokenFor = (resource: string, claims: object = {}, key = own): string =>
  signToken(
    'quote',
    {
      ...{ env: 'test', quote_id: 'q_1', vendor_account_id: 'acct_1', service_id: 's', currency: 'USDC' },
      ...{ service_name: 'Weather API', payout_address: MINT, mint: MINT },
      ...{ quote_amount: '1000', fee_amount: '10', redeem_window_seconds: 900, scope: { resource } },
      issued_at: new Date().toISOString(),
      expires_at: new Date(Date.now() + 60_000).toISOString(),
      ...claims,
    } as Parameters<typeof signToken<'quote'>>[1],
    { kid, key },
  );
const read = (order: object) => readOrder(jsonBase64Url(order), NOW, async () => KEYS as Keys);
const order = (more: object = {}) => ({
  quote: tokenFor(RESOURCE),
  back: `${RESOURCE}?a=1`,
  offer: OFFER,
  ...more,
});

test('an order shows what the quote says, and offers what asks for the same', async () => {
  expect(await read(order())).toMatchObject({
    order: {
      claims: { service_name: 'Weather API', quote_amount: '1000' },
      back: `${RESOURCE}?a=1`,
      offer: { feePayer: 'F', memo: OFFER.extra.memo, chain: 'solana:devnet', accepted: OFFER },
      reason: null,
    },
  });
});

describe('an order is refused', () => {
  test.each([
    ['without a fragment', {}, TEXTS.noOrder],
    ['that returns to another origin', order({ back: 'https://evil.example/report' }), TEXTS.otherAddress],
    ['that returns to another path', order({ back: 'https://shop.example/other' }), TEXTS.otherAddress],
    [
      'that returns to a script',
      order({ back: 'javascript:alert(1)//shop.example/report' }),
      TEXTS.otherAddress,
    ],
    [
      'whose quote names no resource',
      order({ quote: tokenFor(RESOURCE, { scope: null }) }),
      TEXTS.otherAddress,
    ],
    ['whose quote a stranger signed', order({ quote: tokenFor(RESOURCE, {}, STRANGER) }), TEXTS.badQuote],
    ['whose quote is none', order({ quote: 'a.b' }), TEXTS.badQuote],
  ])('%s', async (_, given, problem) => {
    expect(await read(given)).toEqual({ problem });
  });

  test('while the keys cannot be loaded', async () => {
    const failing = readOrder(jsonBase64Url(order()), NOW, () => Promise.reject(new Error('offline')));
    expect(await failing).toEqual({ problem: TEXTS.noKeys });
  });
});

describe('an offer is not shown to wallets', () => {
  test.each([
    ['of another amount', { ...OFFER, amount: '999' }],
    ['to another payee', { ...OFFER, payTo: 'Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u' }],
    ['of another token', { ...OFFER, asset: 'Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u' }],
    ['of another scheme', { ...OFFER, scheme: 'upto' }],
    ['of another chain', { ...OFFER, network: 'eip155:1' }],
    ['without a memo', { ...OFFER, extra: { feePayer: 'F', offer: 'o.p' } }],
    [
      'whose memo tells its reader something else',
      { ...OFFER, extra: { ...OFFER.extra, memo: 'Refund of 500 USDC' } },
    ],
    ['that is a text', 'offer'],
    ['that is missing', undefined],
  ])('%s', async (_, offer) => {
    expect(await read(order({ offer }))).toMatchObject({ order: { offer: null } });
  });

  test('for a pack of requests', async () => {
    const quote = tokenFor(RESOURCE, { scope: { resource: RESOURCE, units: 10 } });
    expect(await read(order({ quote }))).toMatchObject({ order: { offer: null } });
  });
});
