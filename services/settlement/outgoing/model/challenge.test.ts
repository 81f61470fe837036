import { expect, test } from '@jest/globals';
import { ServiceError } from '../../../../shared/contract/errors.ts';
import { settlement } from '../../../../shared/contract/settlement.ts';
import { payeesAsked } from './asked.ts';
import { chargeOf } from './challenge.ts';
import { readOrder } from './order.ts';

const MINT = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PAYEE = 'Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u';
const OTHER = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';
const FEE_PAYER = 'Stake11111111111111111111111111111111111111';
const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const DETAILS = {
  network: 'devnet',
  decimals: 6,
  tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  feePayer: true,
  feePayerKey: FEE_PAYER,
};
const CHARGE = { amount: '50000', currency: MINT, recipient: PAYEE };
const split = (amount: string, more: object = {}) => ({ recipient: OTHER, amount, ...more });

const requestOf = (charge: object) => Buffer.from(JSON.stringify(charge)).toString('base64url');
const challengeOf = (changes: object = {}, details: object = {}, parameters: object = {}) => ({
  ...{ id: 'c1', realm: 'api.example.com', method: 'solana', intent: 'charge' },
  request: requestOf({ ...CHARGE, methodDetails: { ...DETAILS, ...details }, ...changes }),
  ...parameters,
});

const { body } = settlement.operations.payExternal;
const call = { payment_attempt_id: 'a', resource: 'https://api.example.com/report' };
const read = (challenge: object, { network = NETWORK, mint = MINT } = {}) =>
  readOrder(body.parse({ ...call, challenge }), { network, mint });

test('a charge is paid to its recipient, without the splits', () => {
  const splits = [split('300', { memo: 'fee' }), split('200')];
  const expires = '2030-01-01T00:00:00.000Z';
  const challenge = challengeOf({ externalId: 'order 7' }, { splits }, { expires, opaque: 'eyJhIjoiYiJ9' });
  const order = read(challenge);
  expect(order).toMatchObject({
    ...{ rail: 'mpp_out', version: null, amountMicro: 50_000n, payTo: PAYEE, feePayer: FEE_PAYER },
    ...{ memo: 'order 7', requirement: challenge, expiresAt: Date.parse(expires) },
    splits: [
      { pay_to: OTHER, amount: '300', memo: 'fee' },
      { pay_to: OTHER, amount: '200', memo: null },
    ],
  });
  expect(chargeOf(challenge as never)).toEqual({
    fee_payer: FEE_PAYER,
    memo: 'order 7',
    splits: order.splits,
  });
  expect(payeesAsked(order)).toEqual([
    { address: PAYEE, amount: '49500' },
    { address: OTHER, amount: '500' },
  ]);
});

test.each<[string, object]>([
  ['without a memo', challengeOf()],
  ['with an empty memo', challengeOf({ externalId: '' })],
  ['in the symbol of the currency', challengeOf({ currency: 'USDC' })],
  ['with eight splits', challengeOf({}, { splits: Array(8).fill(split('1')) })],
])('a charge %s is accepted', (_name, challenge) => {
  expect(read(challenge)).toMatchObject({ amountMicro: 50_000n, memo: null });
});

test('mainnet has two names', () => {
  const network = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
  const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
  const named = (name: string | undefined) => challengeOf({ currency: mint }, { network: name });
  for (const name of ['mainnet', 'mainnet-beta', undefined])
    expect(read(named(name), { network, mint }).amountMicro).toBe(50_000n);
  expect(() => read(named('devnet'), { network, mint })).toThrow('names the network devnet');
});

test.each<[string, object, RegExp]>([
  ['another network', challengeOf({}, { network: 'mainnet-beta' }), /names the network mainnet-beta/],
  ['no network, which is mainnet', challengeOf({}, { network: undefined }), /names the network/],
  ['a local network', challengeOf({}, { network: 'localnet' }), /names the network localnet/],
  ['another mint', challengeOf({ currency: OTHER }), /only USDC is paid/],
  ['SOL', challengeOf({ currency: 'sol' }), /only USDC is paid/],
  ['other decimals', challengeOf({}, { decimals: 9 }), /other decimals/],
  ['another token program', challengeOf({}, { tokenProgram: OTHER }), /another token program/],
  ['no fee payer', challengeOf({}, { feePayer: undefined }), /has no feePayer/],
  ['a fee payer without a key', challengeOf({}, { feePayerKey: undefined }), /without its feePayerKey/],
  ['a fraction', challengeOf({ amount: '0.5' }), /amount/],
  ['a number as its amount', challengeOf({ amount: 50000 }), /amount/],
  ['no recipient', challengeOf({ recipient: undefined }), /recipient/],
  ['a recipient that is no address', challengeOf({ recipient: 'me' }), /recipient/],
  ['splits of everything', challengeOf({}, { splits: [split('50000')] }), /leave the recipient nothing/],
  [
    'splits of more',
    challengeOf({}, { splits: [split('49999'), split('2')] }),
    /leave the recipient nothing/,
  ],
  ['nine splits', challengeOf({}, { splits: Array(9).fill(split('1')) }), /splits/],
  [
    'a split that creates an account',
    challengeOf({}, { splits: [split('1', { ataCreationRequired: true })] }),
    /create no token account/,
  ],
  ['a split of a negative amount', challengeOf({}, { splits: [split('-1')] }), /splits/],
  ['a memo of 257 bytes', challengeOf({ externalId: 'x'.repeat(257) }), /more than 256 bytes/],
  [
    'memos of 257 bytes',
    challengeOf({ externalId: 'x'.repeat(256) }, { splits: [split('1', { memo: 'x' })] }),
    /more than 256 bytes/,
  ],
  ['a memo with NUL', challengeOf({ externalId: 'a\0' }), /control characters/],
  ['no JSON', { ...challengeOf(), request: 'abc' }, /base64url of JSON/],
  ['JSON that is no charge', { ...challengeOf(), request: requestOf([]) }, /unusable field/],
])('a charge with %s is refused', (_name, challenge, expected) => {
  expect(() => read(challenge)).toThrow(expected);
  expect(() => read(challenge)).toThrow(ServiceError);
});

test.each<[string, object]>([
  ['another method', { challenge: challengeOf({}, {}, { method: 'tempo' }) }],
  ['another intent', { challenge: challengeOf({}, {}, { intent: 'session' }) }],
  ['a parameter that MPP does not have', { challenge: challengeOf({}, {}, { header: 'x-api-key' }) }],
  ['a line break', { challenge: challengeOf({}, {}, { realm: 'a\r\nb' }) }],
  ['a request of 9 KB', { challenge: challengeOf({ description: 'x'.repeat(9000) }) }],
  ['neither form', {}],
])('a call with %s is refused by its schema', (_name, fields) => {
  expect(body.safeParse({ ...call, ...fields }).success).toBe(false);
});

test('a version of x402 next to a challenge is refused', () => {
  const input = body.parse({ ...call, x402_version: 2, challenge: challengeOf() });
  expect(() => readOrder(input, { network: NETWORK, mint: MINT })).toThrow('must be absent with a challenge');
});
