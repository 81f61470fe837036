import { expect, test } from '@jest/globals';
import { paymentSignature } from './payment-signature.ts';

const RESOURCE = 'https://api.example.com/report';

test('a payment of MPP is its credential, with the challenge unchanged', () => {
  const challenge = {
    id: 'c1',
    realm: 'a',
    method: 'solana',
    intent: 'charge',
    request: 'e30',
    opaque: 'e30',
  };
  const value = paymentSignature({
    version: null,
    requirement: challenge,
    resource: RESOURCE,
    transaction: 'AA==',
  });
  expect(value).toMatch(/^Payment [A-Za-z0-9_-]+$/);
  expect(JSON.parse(Buffer.from(value.slice(8), 'base64url').toString())).toEqual({
    challenge,
    payload: { type: 'transaction', transaction: 'AA==' },
  });
});
