import { afterEach, describe, expect, test } from '@jest/globals';
import type { ReceiptClaims as Contract } from '../../../shared/contract/settlement/receipts.ts';
import { signReceipt } from '../../../shared/lib/tokens/receipt.ts';
import { withoutPauses } from '../../../test/support/base/skipped-pauses.ts';
import { forgedReceipts, receiptClaims } from '../../../test/support/stand-ins/receipts.ts';
import {
  type Harness,
  KEYS,
  SIGNERS,
  startHarness,
} from '../../../test/support/stand-ins/scripted-vendors.ts';
import { BadReceiptError, NoAnswerError, type ReceiptClaims, verifyReceipt } from '../main.ts';
import type { Keys } from './tokens.ts';

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});

const keys = KEYS as Keys;
const claims = receiptClaims();
const receipt = await signReceipt(claims, SIGNERS.settlement);
const forged = await forgedReceipts();

describe('a receipt of the API', () => {
  test('is verified with the keys that are passed, without a call', async () => {
    const shown = await verifyReceipt(receipt, { keys, environment: 'test' });
    expect(shown).toEqual(claims);
    // The SDK and the contract declare the same claims.
    const same: (theirs: Contract) => ReceiptClaims = (theirs) => theirs;
    expect(same(claims)).toBe(claims);
  });

  test('is verified with the keys of the API, retired ones included', async () => {
    harness = await startHarness();
    const { baseUrl } = harness.api;
    expect(await verifyReceipt(receipt, { baseUrl, environment: 'test' })).toEqual(claims);
    expect(harness.api.asked.map(({ call }) => call)).toEqual([
      'GET /.well-known/jwks.json?environment=test&all=true',
    ]);
  });

  test('with newer claims is accepted', async () => {
    const newer = { ...claims, tip: '1' } as typeof claims;
    const text = await signReceipt(newer, SIGNERS.settlement);
    expect(await verifyReceipt(text, { keys, environment: 'test' })).toEqual(newer);
  });
});

test.each(forged)('refused: %s', async (_name, text) => {
  await expect(verifyReceipt(text, { keys, environment: 'test' })).rejects.toThrow(BadReceiptError);
});

test.each<[string, string, string]>([
  ['cut off', receipt.slice(0, 50), 'three parts'],
  ['altered', `${receipt.slice(0, -20)}${'A'.repeat(20)}`, 'altered'],
  [
    'signed by a key that is not published',
    await signReceipt(claims, { ...SIGNERS.settlement, kid: 'test.settlement.9' }),
    'not published the key',
  ],
  [
    'a session token',
    `${Buffer.from('{"alg":"EdDSA","typ":"JWT"}').toString('base64url')}.e30.AA`,
    'no receipt',
  ],
])('the error says what is wrong with a receipt that is %s', async (_name, text, message) => {
  await expect(verifyReceipt(text, { keys, environment: 'test' })).rejects.toThrow(message);
});

const ended = (ends: Partial<Keys[number]>): Keys =>
  keys.map((key) => (key.kid === SIGNERS.settlement.kid ? { ...key, ...ends } : key));
const iso = (seconds: number) => new Date(seconds * 1000).toISOString();

test('a receipt of a retired key is valid until the moment of its end', async () => {
  const verify = (retired_at: string) =>
    verifyReceipt(receipt, { keys: ended({ retired_at }), environment: 'test' });
  expect(await verify(iso(claims.iat))).toEqual(claims);
  await expect(verify(iso(claims.iat - 1))).rejects.toThrow('no longer in force');
});

test('no receipt of a compromised key is valid, whatever its time', async () => {
  const verify = verifyReceipt(receipt, {
    keys: ended({ compromised_at: iso(claims.iat + 1000) }),
    environment: 'test',
  });
  await expect(verify).rejects.toThrow(BadReceiptError);
});

test('the error names both environments', async () => {
  await expect(verifyReceipt(receipt, { keys, environment: 'live' })).rejects.toThrow(
    'the receipt is of the test environment; a receipt of live is expected',
  );
});

test('keys that cannot be loaded are no statement about the receipt', async () => {
  harness = await startHarness();
  harness.script.keys = () => 'lost';
  const { baseUrl } = harness.api;
  const fetch: typeof globalThis.fetch = (url, init) => globalThis.fetch(url, init);
  await withoutPauses(() =>
    expect(verifyReceipt(receipt, { baseUrl, fetch, environment: 'test' })).rejects.toThrow(NoAnswerError),
  );
});
