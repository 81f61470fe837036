import { beforeAll, expect, test } from '@jest/globals';
import { getBase58Decoder } from '@solana/kit';
import { formatRecoveryCode } from './recovery-code.ts';
import { addPasskey, passkeysOf, random, readBackup, seal, unseal } from './vault.ts';

/** Uses the WebCrypto of Node, which has the same interface as in browsers. */
const make = async (passkey = { credentialId: 'cred-1', output: random(32), salt: random(32) }) => {
  const keys = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as CryptoKeyPair;
  const raw = new Uint8Array(await crypto.subtle.exportKey('raw', keys.publicKey));
  const address = getBase58Decoder().decode(raw);
  const code = random(16);
  const written = await formatRecoveryCode(code);
  const secret = { kind: 'passkey' as const, ...passkey };
  const text = await seal(keys.privateKey, { publicKey: address, code, passkey: secret });
  return { keys, address, text, code: { kind: 'code' as const, code: written }, passkey };
};
type Made = Awaited<ReturnType<typeof make>>;
let made: Made;
let other: Made;
beforeAll(async () => {
  [made, other] = [await make(), await make()];
});
const byPasskey = ({ passkey }: Made) => ({
  kind: 'passkey' as const,
  credentialId: passkey.credentialId,
  output: passkey.output.slice(),
});

test('the passkey and the code open the same key, which signs and cannot be read', async () => {
  const backup = readBackup(made.text, made.address);
  const message = new TextEncoder().encode('signed');
  for (const secret of [byPasskey(made), made.code]) {
    const key = await unseal(backup, made.address, secret);
    expect([key.extractable, key.usages]).toEqual([false, ['sign']]);
    const signature = await crypto.subtle.sign('Ed25519', key, message);
    expect(await crypto.subtle.verify('Ed25519', made.keys.publicKey, signature, message)).toBe(true);
  }
  expect(passkeysOf(backup)).toEqual([{ credentialId: 'cred-1', salt: made.passkey.salt }]);
});

test('a further passkey opens it too, and a repeated one replaces its slot', async () => {
  const backup = readBackup(made.text, made.address);
  const key = await unseal(backup, made.address, made.code, { toWrap: true });
  const phone = { credentialId: 'cred-2', output: random(32), salt: random(32) };
  const first = await addPasskey(backup, key, made.address, { kind: 'passkey', ...phone });
  const again = { ...phone, output: random(32) };
  const text = await addPasskey(readBackup(first, made.address), key, made.address, {
    kind: 'passkey',
    ...again,
  });
  const both = readBackup(text, made.address);
  expect(passkeysOf(both).map(({ credentialId }) => credentialId)).toEqual(['cred-2', 'cred-1']);
  for (const secret of [byPasskey(made), byPasskey({ ...made, passkey: again }), made.code])
    expect((await unseal(both, made.address, secret)).extractable).toBe(false);
  const former = unseal(both, made.address, byPasskey({ ...made, passkey: phone }));
  await expect(former).rejects.toThrow('does not open');
});

test('the secret is wiped once it was used', async () => {
  const secret = byPasskey(made);
  await unseal(readBackup(made.text, made.address), made.address, secret);
  expect(secret.output).toEqual(new Uint8Array(32));
});

test('nothing of the key is in the backup', async () => {
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', made.keys.privateKey));
  const seed = pkcs8.subarray(-32);
  expect(made.text).not.toContain(seed.toString('base64').slice(0, 20));
  expect(made.text).not.toContain(made.code.code.slice(0, 9));
});

test('a PRF that differs by one bit, another passkey, another code and a mistyped one are refused with a text', async () => {
  const backup = readBackup(made.text, made.address);
  const flipped = byPasskey(made);
  flipped.output[31]! ^= 1;
  const refusals = [
    [flipped, 'This passkey does not open this wallet'],
    [{ ...byPasskey(made), credentialId: 'cred-2' }, 'This passkey does not open this wallet'],
    [other.code, 'This recovery code is of another wallet'],
    [{ kind: 'code' as const, code: 'ABCD' }, 'This is not a recovery code of Quittance'],
  ] as const;
  for (const [secret, why] of refusals)
    await expect(unseal(backup, made.address, secret)).rejects.toThrow(why);
});

test('a backup of another wallet is refused, also with its name changed to this one', async () => {
  // The same passkey opens both wallets, so only the address inside distinguishes them.
  const mine = await make(made.passkey);
  expect(() => readBackup(mine.text, made.address)).toThrow('of another wallet');
  const renamed = mine.text.replace(mine.address, made.address);
  const backup = readBackup(renamed, made.address);
  await expect(unseal(backup, made.address, byPasskey(made))).rejects.toThrow('does not open');
  await expect(unseal(backup, made.address, mine.code)).rejects.toThrow('of another wallet');
});

test('one kind of slot is not accepted as the other, and no altered part opens', async () => {
  const backup = readBackup(made.text, made.address);
  const [passkey, code] = backup.slots;
  const swapped = {
    ...backup,
    slots: [
      { ...passkey!, ...pick(code!) },
      { ...code!, ...pick(passkey!) },
    ],
  };
  await expect(unseal(swapped as never, made.address, made.code)).rejects.toThrow('of another wallet');
  for (const part of ['salt', 'iv', 'key'] as const) {
    const other64 = code![part].startsWith('A') ? 'B' : 'A';
    const altered = { ...code!, [part]: other64 + code![part].slice(1) };
    await expect(unseal({ ...backup, slots: [altered] }, made.address, made.code)).rejects.toThrow('another');
  }
});
const pick = ({ salt, iv, key }: { salt: string; iv: string; key: string }) => ({ salt, iv, key });

test.each([
  '',
  '{}',
  '[]',
  'null',
  '{"version":2,"public_key":"x","slots":[]}',
  '{"version":1,"public_key":"x","slots":[{"kind":"code"}]}',
])('a backup of another form is refused: %s', (text) =>
  expect(() => readBackup(text, 'x')).toThrow('was not created by this console'),
);
