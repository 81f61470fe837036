import { expect, test } from '@jest/globals';
import { approvalChallenge } from './challenge.ts';

const A = 'Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u';
const B = 'Bi4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u';
const terms = {
  approval_id: 'apr_01kaj5w0c0e8h9x2m4n6p8q0rs',
  quote_id: 'q_01kaj5w0c0e8h9x2m4n6p8q0rs',
  amount: '2500000',
  payees: [{ address: A, amount: '2500000' }],
};

test('the challenge is the SHA-256 of the documented text', () => {
  // printf 'quittance-approval\ntest\napr_…\nq_…\n2500000\nAi4g… 2500000' |
  // openssl dgst -sha256 -binary | basenc --base64url
  expect(approvalChallenge('test', terms)).toBe('87zazG7WBQf3nmWzmo8H7uwUp1aZLC19fTXdDDx-jyM');
  expect(approvalChallenge('test', terms)).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

const split = (a: string, b: string) => [
  { address: A, amount: a },
  { address: B, amount: b },
];

test('the same payees with other parts have another challenge', () => {
  const challenges = [split('1', '2499999'), split('2499999', '1'), [...split('1', '2499999')].reverse()].map(
    (payees) => approvalChallenge('test', { ...terms, payees }),
  );
  expect(new Set(challenges).size).toBe(3);
});

test.each([
  ['environment', 'live', {}],
  ['approval', 'test', { approval_id: 'apr_01kaj5w0c0e8h9x2m4n6p8q0rt' }],
  ['quote', 'test', { quote_id: 'q_01kaj5w0c0e8h9x2m4n6p8q0rt' }],
  ['no quote', 'test', { quote_id: null }],
  ['amount', 'test', { amount: '25000000' }],
  ['payee', 'test', { payees: [{ address: B, amount: '2500000' }] }],
  ['split', 'test', { payees: split('1', '2499999') }],
  ['a digit that moved between fields', 'test', { quote_id: `${terms.quote_id}2`, amount: '500000' }],
] as const)('another %s has another challenge', (_name, environment, change) => {
  expect(approvalChallenge(environment, { ...terms, ...change })).not.toBe(approvalChallenge('test', terms));
});
