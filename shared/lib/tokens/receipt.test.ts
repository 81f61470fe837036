import { expect, test } from '@jest/globals';
import { compactVerify } from 'jose';
import { publicKeys, settlementKey } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';
import { receiptClaims } from '../../../test/support/stand-ins/receipts.ts';
import { ReceiptClaims } from '../../contract/settlement/receipts.ts';
import { publicKeyFromRaw, rawPublicKey, signBytes, verifyBytes } from '../chain/ed25519.ts';
import { newId, newServiceId } from '../id.ts';
import { signToken, verifyToken } from './compact-token.ts';
import { signReceipt } from './receipt.ts';

const claims = receiptClaims();
const receipt = await signReceipt(claims, settlementKey);
const publicKey = publicKeyFromRaw(rawPublicKey(settlementKey.key));
const token = signToken(
  'settlement',
  {
    env: 'test',
    settlement_id: claims.settlement_id,
    quote_id: newId('q'),
    service_id: newServiceId(),
    quote_amount: '1000',
    issued_at: claims.confirmed_at,
    redeem_expires_at: claims.confirmed_at,
  },
  settlementKey,
);

test('any JOSE library verifies a receipt with the published key', async () => {
  const { protectedHeader, payload } = await compactVerify(receipt, publicKey, { algorithms: ['EdDSA'] });
  expect(protectedHeader).toEqual({ alg: 'EdDSA', kid: 'test.settlement.1', typ: 'quittance-receipt+jwt' });
  expect(JSON.parse(new TextDecoder().decode(payload))).toEqual(claims);
  expect(ReceiptClaims.parse(claims)).toEqual(claims);
});

test('the same claims and key give the same receipt', async () => {
  expect(await signReceipt(claims, settlementKey)).toBe(receipt);
});

test('the content has no account, delegate, attempt, wallet or token', () => {
  expect(JSON.stringify(claims)).not.toMatch(/acct_|del_|wal_|attempt|token/);
});

test('no part of a receipt is accepted as a settlement token, and no settlement token as a receipt', async () => {
  const [header, payload, signature] = receipt.split('.') as [string, string, string];
  const options = { env: 'test', keys: publicKeys };
  for (const text of [receipt, `${header}.${signature}`, `${payload}.${signature}`, `${header}.${payload}`])
    expect(() => verifyToken('settlement', text, options)).toThrow();
  // The key is the same, and the signed bytes differ.
  const [body, signed] = token.split('.') as [string, string];
  expect(verifyToken('settlement', token, options).settlement_id).toBe(claims.settlement_id);
  for (const text of [`${header}.${body}.${signed}`, `${body}.${header}.${signed}`, `${body}.${signed}`])
    await expect(compactVerify(text, publicKey)).rejects.toThrow();
});

test('a signature over a header and a payload does not fit the payload alone', () => {
  const [header, payload, signature] = receipt.split('.') as [string, string, string];
  const bytes = Buffer.from(signature, 'base64url');
  expect(verifyBytes(Buffer.from(`${header}.${payload}`), bytes, publicKey)).toBe(true);
  for (const text of [header, payload]) expect(verifyBytes(Buffer.from(text), bytes, publicKey)).toBe(false);
  expect(signBytes(Buffer.from(payload), settlementKey.key)).not.toEqual(new Uint8Array(bytes));
});
