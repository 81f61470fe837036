import { CompactSign, SignJWT } from 'jose';
import { RECEIPT_TYPE, type ReceiptClaims } from '../../../shared/contract/settlement/receipts.ts';
import { rawPublicKey, signBytes } from '../../../shared/lib/chain/ed25519.ts';
import { newId } from '../../../shared/lib/id.ts';
import type { SigningKey } from '../../../shared/lib/tokens/keys.ts';
import { signReceipt } from '../../../shared/lib/tokens/receipt.ts';
import { SERVICE, SERVICE_WALLET, SIGNERS } from './scripted-vendors.ts';

/** Receipts as the API signs them, and forgeries that every verifier must refuse. */

const HASH = '5'.repeat(88);

/** The claims of a payment of 2.5 USDC at the test environment. */
export const receiptClaims = (changes: Partial<ReceiptClaims> = {}): ReceiptClaims => ({
  iss: 'https://api.example.com',
  env: 'test',
  iat: 1_795_255_200,
  settlement_id: newId('stl'),
  rail: 'quittance',
  status: 'redeemed',
  chain_status: 'finalized',
  network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  quote: { quote_id: newId('q'), issued_at: '2026-11-21T10:00:00.000Z' },
  item: 'https://api.example.com/forecast',
  payment_link_id: null,
  vendor: {
    ...{ service_id: SERVICE, service_name: 'Weather API' },
    payees: [{ address: SERVICE_WALLET, amount: '2487500' }],
  },
  payer_address: 'Vote111111111111111111111111111111111111111',
  amount: { gross: '2500000', fee: '12500', net: '2487500', currency: 'USDC', mint: SERVICE_WALLET },
  transaction: { signature: HASH, superseded: [] },
  confirmed_at: '2026-11-21T10:00:03.000Z',
  redeemed_at: '2026-11-21T10:00:04.000Z',
  refunds: [],
  refund_count: 0,
  refunded: '0',
  ...changes,
});

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** Another encoding of the same bytes: the unused bits of the last character are ignored. */
const respelled = (text: string) => text.slice(0, -1) + ALPHABET[ALPHABET.indexOf(text.at(-1)!) ^ 1]!;
const flipped = (text: string, at: number) =>
  text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);

/** Signs any header and content, as an attacker with that key could. */
const signed = (header: object, claims: unknown, { key }: SigningKey): string => {
  const input = `${encode(header)}.${encode(claims)}`;
  return `${input}.${Buffer.from(signBytes(Buffer.from(input), key)).toString('base64url')}`;
};
const headerOf = ({ kid }: SigningKey, changes: object = {}) => ({
  alg: 'EdDSA',
  kid,
  typ: RECEIPT_TYPE,
  ...changes,
});

/** Texts that are no receipt of the test environment. `settlement` is the API's key. */
export const forgedReceipts = async (): Promise<[name: string, text: string][]> => {
  const { settlement, quote } = SIGNERS;
  const claims = receiptClaims();
  const good = await signReceipt(claims, settlement);
  const [header, payload, signature] = good.split('.') as [string, string, string];
  const lie = encode({ ...claims, amount: { ...claims.amount, gross: '1' } });
  const publicBytes = rawPublicKey(settlement.key);
  const hs256 = new SignJWT(claims).setProtectedHeader(headerOf(settlement, { alg: 'HS256' }));
  const live = { ...settlement, kid: 'live.settlement.1' };
  const numbered = { ...claims, amount: { ...claims.amount, gross: 2_500_000 } };
  return [
    ['empty', ''],
    ['one part', header],
    ['two parts', `${header}.${payload}`],
    ['four parts', `${good}.${signature}`],
    ['an altered amount', `${header}.${lie}.${signature}`],
    ['an altered byte of the content', `${header}.${flipped(payload, 40)}.${signature}`],
    ['an altered byte of the signature', `${header}.${payload}.${flipped(signature, 10)}`],
    ['an altered byte of the header', `${flipped(header, 12)}.${payload}.${signature}`],
    ['no signature', `${header}.${payload}.`],
    ['alg none', `${encode(headerOf(settlement, { alg: 'none' }))}.${payload}.`],
    ['alg none with a signature', signed(headerOf(settlement, { alg: 'none' }), claims, settlement)],
    ['HS256 with the public key', await hs256.sign(publicBytes)],
    [
      'another alg, signed by the key',
      signed(headerOf(settlement, { alg: 'Ed25519ph' }), claims, settlement),
    ],
    ['another typ', signed(headerOf(settlement, { typ: 'JWT' }), claims, settlement)],
    ['no typ', signed(headerOf(settlement, { typ: undefined }), claims, settlement)],
    ['a critical extension', signed(headerOf(settlement, { crit: ['x'], x: 1 }), claims, settlement)],
    ['a key in the header', signed(headerOf(settlement, { jwk: { kty: 'OKP' } }), claims, settlement)],
    ['a key of another use', signed(headerOf(quote), claims, quote)],
    [
      'another key under the same kid',
      await signReceipt(claims, { ...SIGNERS.stranger, kid: settlement.kid }),
    ],
    ['an unknown key', await signReceipt(claims, { ...settlement, kid: 'test.settlement.9' })],
    ['a key that was retired before', await signReceipt(claims, SIGNERS.retired)],
    ['a key that others may have', await signReceipt(claims, SIGNERS.compromised)],
    ['kid of the prototype', signed({ ...headerOf(settlement), kid: '__proto__' }, claims, settlement)],
    ['the other environment', await signReceipt({ ...claims, env: 'live' }, live)],
    ['a live claim, signed by a test key', await signReceipt({ ...claims, env: 'live' }, settlement)],
    ['another encoding of the signature', `${header}.${payload}.${respelled(signature)}`],
    ['padded', `${header}.${payload}=.${signature}`],
    ['white space', `${header}.${payload} .${signature}`],
    ['content that is no object', signed(headerOf(settlement), null, settlement)],
    ['content that is no receipt', signed(headerOf(settlement), { env: 'test' }, settlement)],
    ['an amount that is a number', signed(headerOf(settlement), numbered, settlement)],
    [
      'content that is no JSON',
      await new CompactSign(Buffer.from('{')).setProtectedHeader(headerOf(settlement)).sign(settlement.key),
    ],
    ['huge', `${header}.${'A'.repeat(70_000)}.${signature}`],
  ];
};
