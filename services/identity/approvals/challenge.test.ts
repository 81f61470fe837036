import { expect, test } from '@jest/globals';
import { approvalChallenge } from './challenge.ts';

const terms = {
  approval_id: 'apr_01kaj5w0c0e8h9x2m4n6p8q0rs',
  quote_id: 'q_01kaj5w0c0e8h9x2m4n6p8q0rs',
  amount: '2500000',
  pay_to: 'Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u',
};

test('the challenge is the SHA-256 of the documented text', () => {
  // printf 'quittance-approval\ntest\napr_…\nq_…\n2500000\nAi4g…' | openssl dgst -sha256 -binary |
  // basenc --base64url
  expect(approvalChallenge('test', terms)).toBe('zz7KfKz16VIii6Tr-Y0NIXjnr9cR_z84avTXILJ96b4');
  expect(approvalChallenge('test', terms)).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test.each([
  ['environment', 'live', {}],
  ['approval', 'test', { approval_id: 'apr_01kaj5w0c0e8h9x2m4n6p8q0rt' }],
  ['quote', 'test', { quote_id: 'q_01kaj5w0c0e8h9x2m4n6p8q0rt' }],
  ['no quote', 'test', { quote_id: null }],
  ['amount', 'test', { amount: '25000000' }],
  ['payee', 'test', { pay_to: 'Bi4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u' }],
  ['a digit that moved between fields', 'test', { quote_id: `${terms.quote_id}2`, amount: '500000' }],
] as const)('another %s has another challenge', (_name, environment, change) => {
  expect(approvalChallenge(environment, { ...terms, ...change })).not.toBe(approvalChallenge('test', terms));
});
