import { expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { NumberedSecretKeys, newestFirst, SecretKey } from './key-settings.ts';

const secretKeys = [1, 2].map(() => bs58.encode(Keypair.generate().secretKey));
const URI = 'pkcs11:token=a;object=b';
const messageOf = (text: string) => NumberedSecretKeys.safeParse(text).error?.issues[0]?.message;

test('keys in memory and keys on tokens are mixed, in their order', () => {
  const keys = NumberedSecretKeys.parse(`2:${URI}?pin-source=file:/pin, 1:${secretKeys[0]}`);
  expect(keys).toMatchObject([
    { number: 2, key: { uri: { object: 'b', pinFile: '/pin' } } },
    { number: 1, key: { signer: { publicKey: expect.any(String) } } },
  ]);
  expect(newestFirst(keys.toReversed()).map(({ number }) => number)).toEqual([2, 1]);
});

test.each([
  [`1:${secretKeys[0]},1:${secretKeys[1]}`],
  [`1:${secretKeys[0]},2:${secretKeys[0]}`],
  [`0:${secretKeys[0]}`],
  [secretKeys[0]!],
  [`1:${secretKeys[0]}:x`],
  ['1:'],
  [''],
])('numbers or keys that are absent or repeated are refused', (text) => {
  expect(messageOf(text)).toMatch(/number:secret-key, comma separated, all different/);
});

test('a wrong URI is refused with its reason, and no message repeats a value', () => {
  expect(messageOf(`1:${secretKeys[0]},2:pkcs11:token=a;object=b?pin-value=4711`)).toMatch(
    /^2: is a pkcs11: URI that cannot be used: the attribute "pin-value"/,
  );
  expect(messageOf('2:pkcs11:token=a;object=b?pin-value=4711')).not.toContain('4711');
  expect(SecretKey.safeParse('x').error?.issues[0]?.message).toMatch(/in base58, or a pkcs11: URI/);
});
