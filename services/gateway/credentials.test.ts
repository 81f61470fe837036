import { expect, test } from '@jest/globals';
import { ServiceError } from '../../shared/contract/errors.ts';
import { funding } from '../../shared/contract/index.ts';
import { signAccessToken } from '../../shared/lib/access-token.ts';
import { privateKeyFromSeed, rawPublicKey } from '../../shared/lib/ed25519.ts';
import { newId } from '../../shared/lib/id.ts';
import { createKeyText } from '../../shared/lib/key-text.ts';
import { PublicKeyList } from '../../shared/lib/keys.ts';
import { authorize, createAuthenticate } from './credentials.ts';
import type { GatewayEnvironment } from './environments.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const signing = { kid: 'test.session.1', key: privateKeyFromSeed(Buffer.alloc(32, 1)) };
const x = Buffer.from(rawPublicKey(signing.key)).toString('base64url');
const [account, service] = [newId('acct'), '0190a5b0-0000-7000-8000-000000000001'];
const environment = {
  name: 'test',
  isSessionOpen: async () => true,
  findKey: async () => ({ kind: 'service_key', account_id: account, service_id: service, key_id: 'k' }),
} as unknown as GatewayEnvironment;
const authenticate = createAuthenticate({
  environments: new Map([['test', environment]]),
  publicKeys: PublicKeyList.parse(JSON.stringify([{ kid: signing.kid, x }])),
  now: () => NOW,
});
const tokenOf = (signedInSecondsAgo: number) =>
  signAccessToken(
    {
      accountId: account,
      sessionId: newId('ses'),
      environment: 'test',
      amr: ['email'],
      authTime: NOW / 1000 - signedInSecondsAgo,
      now: NOW,
    },
    signing,
  );
const verdict = async (name: keyof typeof funding.operations, credential: string) => {
  const headers = ['Authorization', `Bearer ${credential}`];
  try {
    authorize(await authenticate(headers), funding.operations[name]);
    return 'ok';
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error);
  }
};

test.each([
  ['approveWithdrawal', 0, 'ok'],
  ['approveWithdrawal', 300, 'ok'],
  // The age of a sign-in is the service's to check (shared/bus/serve.ts).
  ['approveWithdrawal', 301, 'ok'],
  ['createRefund', 301, 'ok'],
  ['createWithdrawal', 301, 'ok'],
  ['cancelWithdrawal', 301, 'ok'],
  ['submitRefund', 301, 'ok'],
] as const)('%s with a sign-in %d s old: %s', async (name, age, expected) => {
  expect(await verdict(name, await tokenOf(age))).toBe(expected);
});

test('a key where only a person may call is refused', async () => {
  const key = createKeyText('vendor_test_');
  expect([await verdict('createRefund', key), await verdict('approveWithdrawal', key)]).toEqual([
    'ok',
    'forbidden',
  ]);
});
