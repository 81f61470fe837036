import { expect, test } from '@jest/globals';
import type { ReceiptClaims } from '../../../sdk/src/checks/receipt.ts';
import type { Keys } from '../../../sdk/src/checks/tokens.ts';
import { ApiError } from '../../../sdk/src/main.ts';
import { privateKeyFromSeed, rawPublicKey } from '../../../shared/lib/chain/ed25519.ts';
import { pageHandleOf } from '../../../shared/lib/page-handle.ts';
import { signToken } from '../../../shared/lib/tokens/compact-token.ts';
import { linkIn, openLink, successAddress } from './link.ts';
import { isReceiptOf } from './proof.ts';
import { ofWallet } from './refusals.ts';
import { handleOf } from './secret.ts';
import { TEXTS } from './texts.ts';

const ID = 'pl_01kaj5w0c0e8h9x2m4n6p8q0rs';
const MINT = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
const kid = 'test.quote.1';
const own = privateKeyFromSeed(new Uint8Array(32).fill(1));
const stranger = privateKeyFromSeed(new Uint8Array(32).fill(2));
const x = Buffer.from(rawPublicKey(own)).toString('base64url');
const KEYS = [{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid, x, env: 'test' }] as Keys;

const payment_link = { payment_link_id: ID, title: 'Tour', memo: '1 USDC to Weather (q)', success_url: null };
const tokenFor = (link: object, key = own): string =>
  signToken(
    'quote',
    {
      ...{ env: 'test', quote_id: 'q_1', vendor_account_id: 'acct_1', service_id: 's', currency: 'USDC' },
      ...{ service_name: 'Weather API', payout_address: MINT, mint: MINT },
      ...{ quote_amount: '1000', fee_amount: '10', redeem_window_seconds: 900 },
      scope: { payment_link: { ...payment_link, ...link } },
      issued_at: new Date().toISOString(),
      expires_at: new Date(Date.now() + 60_000).toISOString(),
    } as Parameters<typeof signToken<'quote'>>[1],
    { kid, key },
  );
const opened = (answer: string | Error) =>
  openLink(
    {
      quote: {
        openPaymentLink: async () => {
          if (answer instanceof Error) throw answer;
          return { quote_token: answer };
        },
      },
    } as unknown as Parameters<typeof openLink>[0],
    { environment: 'test', paymentLinkId: ID },
    async () => KEYS,
  );

test.each([
  [`/pay/test/${ID}`, { environment: 'test', paymentLinkId: ID }],
  ['/pay', null],
  [`/pay/other/${ID}`, null],
  [`/pay/test/${ID}/more`, null],
])('the path %s names the link %j', (path, link) => {
  expect(linkIn(path)).toEqual(link);
});

test('a link shows what its signed quote says', async () => {
  expect(await opened(tokenFor({ success_url: 'https://shop.example/' }))).toMatchObject({
    opened: { title: 'Tour', memo: '1 USDC to Weather (q)', successUrl: 'https://shop.example/' },
  });
  // Only a web page can follow the payment.
  expect(await opened(tokenFor({ success_url: 'javascript:alert(1)' }))).toMatchObject({
    opened: { successUrl: null },
  });
});

test.each<[string, string]>([
  ['of another link', tokenFor({ payment_link_id: `${ID.slice(0, -1)}z` })],
  ['of another signer', tokenFor({}, stranger)],
  ['that is none', 'a.b'],
])('a quote %s is refused', async (_, token) => {
  expect(await opened(token)).toEqual({ problem: TEXTS.badQuote });
});

test.each<[string, string]>([
  ['not_found', TEXTS.noLink],
  ['conflict', TEXTS.linkEnded],
  ['quote_already_settled', TEXTS.linkPaid],
  ['service_unavailable', TEXTS.noAnswer],
])('the refusal %s has a sentence', async (code, problem) => {
  const error = new ApiError({ code, message: code }, { status: 409, requestId: null, retryAfterMs: null });
  expect(await opened(error)).toMatchObject({ problem });
});

test.each([
  ['validation_error', 'transaction: unknown_instruction: x', 'Your wallet adds instructions'],
  ['conflict', 'vendor_frozen: the account is frozen', 'The vendor cannot receive payments'],
  ['insufficient_funds', 'the wallet has too little', 'Not enough USDC in your wallet.'],
  ['validation_error', 'transaction: signature_invalid: x', 'The payment was refused (validation_error)'],
])('the refusal %s (%s) has the sentence "%s"', (code, message, sentence) => {
  expect(ofWallet(code, message).text).toContain(sentence);
});

test('the vendor learns the settlement, whatever its address has already', () => {
  expect(successAddress('https://shop.example/a?b=1#c', 'stl_1')).toBe(
    'https://shop.example/a?b=1&quittance_settlement=stl_1#c',
  );
});

test('the handle of a page is the one that the API makes of its secret and link', async () => {
  const secret = 'A'.repeat(43);
  expect(await handleOf(secret, ID)).toBe(pageHandleOf(secret, ID));
  expect(await handleOf(secret, ID)).not.toBe(await handleOf(secret, `${ID.slice(0, -1)}z`));
});

const SETTLEMENT = 'stl_01kaj5w0c0e8h9x2m4n6p8q0rs';
const amount = { gross: '2500000', fee: '12500', net: '2487500', currency: 'USDC', mint: MINT } as const;
const payee = { address: MINT.replace(/.$/, '1'), amount: amount.net };
const vendor = { service_id: 's', service_name: 'Weather API', payees: [payee] };
/** The claims that are compared. */
const receiptOf = (more: Partial<ReceiptClaims> = {}) =>
  ({
    ...{ env: 'test', settlement_id: SETTLEMENT, payment_link_id: ID, chain_status: 'confirmed' },
    ...{ amount, vendor, ...more },
  }) as ReceiptClaims;
const strange = { address: MINT, amount: '1' };
const offered = {
  environment: 'test',
  paymentLinkId: ID,
  amount: amount.gross,
  payee: payee.address,
} as const;

test.each<[string, Partial<ReceiptClaims>, boolean]>([
  ['of the payment', {}, true],
  ['of another link', { payment_link_id: `${ID.slice(0, -1)}z` }, false],
  ['of no link', { payment_link_id: null }, false],
  ['of another amount', { amount: { ...amount, gross: '10000' } }, false],
  ['of another payee', { vendor: { ...vendor, payees: [strange] } }, false],
  ['of another payee too', { vendor: { ...vendor, payees: [...vendor.payees, strange] } }, false],
  ['of another settlement', { settlement_id: SETTLEMENT.replace(/.$/, '0') }, false],
  ['of the other environment', { env: 'live' }, false],
  ['of a payment that the chain has reversed', { chain_status: 'failed' }, false],
])('a receipt %s is compared with what the page has offered', (_, more, isOwn) => {
  expect(isReceiptOf(receiptOf(more), SETTLEMENT, offered)).toBe(isOwn);
});
