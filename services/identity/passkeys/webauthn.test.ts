import { expect, test } from '@jest/globals';
import { createAuthenticator, type Says } from '../../../test/support/actors/authenticator.ts';
import { userHandle, verifyRegistration } from './webauthn.ts';

const rp = { id: 'localhost', name: 'Quittance', origins: ['http://localhost:4000'] };
const challenge = 'A'.repeat(43);
const registered = (says: Says) => {
  const response = createAuthenticator().create({ challenge }, says);
  return verifyRegistration({ rp }, response, challenge);
};

test.each([
  ['none', { fmt: 'none' }, undefined],
  ['packed, signed by the new key itself', { fmt: 'packed', statement: 'self' }, undefined],
  ['packed with certificates', { fmt: 'packed', statement: 'certificates' }, 'attestation'],
  ...['apple', 'tpm', 'android-key', 'android-safetynet', 'fido-u2f', '__proto__'].map(
    (fmt) => [fmt, { fmt, statement: 'certificates' }, 'attestation'] as const,
  ),
] as [string, Says['attestation'] & object, string | undefined][])(
  'attestation %s: a certificate is refused unread',
  async (_name, attestation, refused) => {
    const result = await registered({ attestation });
    expect('refused' in result ? result.refused : undefined).toBe(refused);
  },
);

test.each([
  ['empty', ''],
  ['no CBOR', 'AAAA'],
  ['cut', 'o2NmbXRkbm9uZQ'],
  ['a thousand arrays in one another', Buffer.alloc(8192, 0x81).toString('base64url')],
  ['a length of 2^64', Buffer.from('5bffffffffffffffff', 'hex').toString('base64url')],
])('an attestation object that is %s is refused without an exception', async (_name, attestationObject) => {
  const response = createAuthenticator().create({ challenge });
  const bad = { ...response, response: { ...response.response, attestationObject } };
  expect(await verifyRegistration({ rp }, bad, challenge)).toHaveProperty('refused');
});

test('a user handle differs between environments and accounts', () => {
  const handles = [
    userHandle('test', 'acct_1'),
    userHandle('live', 'acct_1'),
    userHandle('test', 'acct_2'),
    userHandle('test', 'acct_1'),
  ].map((handle) => handle.toString('hex'));
  expect(new Set(handles).size).toBe(3);
  expect(handles[3]).toBe(handles[0]);
});
