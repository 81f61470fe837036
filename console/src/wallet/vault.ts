import { getBase64Decoder, getBase64Encoder } from '@solana/kit';
import * as z from 'zod/mini';
import { readCode } from './code.ts';

/**
 * How the key of a wallet that was made here is kept (ADR 32): once under a passkey's PRF and once
 * under the printed recovery code, each a slot of the backup that the API keeps and cannot read.
 * HKDF of the secret gives an AES-GCM key; the wallet's own address is authenticated with the
 * ciphertext, so that nobody puts another key in its place.
 */

const bytesOf = (base64: string) => new Uint8Array(getBase64Encoder().encode(base64));
const base64Of = (bytes: Uint8Array) => getBase64Decoder().decode(bytes);

const base64 = z.string().check(z.regex(/^[A-Za-z0-9+/]+={0,2}$/));
const sealed = { salt: base64, iv: base64, key: base64 };
const PasskeySlot = z.strictObject({
  kind: z.literal('passkey'),
  /** As WebAuthn gives it, base64url. */
  credential_id: z.string().check(z.regex(/^[\w-]+$/)),
  /** What the passkey's PRF is asked for. */
  prf_salt: base64,
  ...sealed,
});
const CodeSlot = z.strictObject({ kind: z.literal('code'), ...sealed });
const Backup = z.strictObject({
  version: z.literal(1),
  public_key: z.string(),
  slots: z.array(z.discriminatedUnion('kind', [PasskeySlot, CodeSlot])),
});
export type Backup = z.infer<typeof Backup>;
type Slot = Backup['slots'][number];
type Kind = Slot['kind'];

/** What opens a slot: what a passkey's PRF gave, or the code as it was typed. */
export type Secret =
  | { kind: 'passkey'; credentialId: string; output: Uint8Array<ArrayBuffer> }
  | { kind: 'code'; code: string };

/** The key was not opened; its message is for the person. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
}

/**
 * The backup as the API gave it.
 * @param publicKey whose wallet it must be
 * @throws LockedError when it is of another form, or of another wallet
 */
export const readBackup = (text: string, publicKey: string): Backup => {
  let backup: Backup;
  try {
    backup = Backup.parse(JSON.parse(text));
  } catch {
    throw new LockedError('The backup of this wallet was not made by this console.');
  }
  if (backup.public_key !== publicKey) throw new LockedError('The backup is of another wallet.');
  return backup;
};

/** Random bytes. */
export const random = (length: number): Uint8Array<ArrayBuffer> =>
  crypto.getRandomValues(new Uint8Array(length));

const wrappingKey = async (
  secret: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
  kind: Kind,
): Promise<CryptoKey> => {
  const from = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveKey']);
  const info = new TextEncoder().encode(`quittance wallet 1 ${kind}`);
  return crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt, info },
    from,
    { name: 'AES-GCM', length: 256 },
    false,
    ['wrapKey', 'unwrapKey'],
  );
};

/** AES-GCM bound to the kind of slot and to the wallet. */
const sealing = (iv: Uint8Array<ArrayBuffer>, kind: Kind, publicKey: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: new TextEncoder().encode(`quittance wallet 1\n${kind}\n${publicKey}`),
});

const sealedUnder = async (
  key: CryptoKey,
  { publicKey, kind, secret }: { publicKey: string; kind: Kind; secret: Uint8Array<ArrayBuffer> },
) => {
  const [salt, iv] = [random(16), random(12)];
  const wrapped = await crypto.subtle.wrapKey(
    'pkcs8',
    key,
    await wrappingKey(secret, salt, kind),
    sealing(iv, kind, publicKey),
  );
  return { salt: base64Of(salt), iv: base64Of(iv), key: base64Of(new Uint8Array(wrapped)) };
};

/** What a passkey gave when it was asked with `salt`. */
export type PasskeySecret = Extract<Secret, { kind: 'passkey' }> & { salt: Uint8Array<ArrayBuffer> };

const passkeySlot = async (key: CryptoKey, publicKey: string, passkey: PasskeySecret): Promise<Slot> => ({
  kind: 'passkey',
  credential_id: passkey.credentialId,
  prf_salt: base64Of(passkey.salt),
  ...(await sealedUnder(key, { publicKey, kind: 'passkey', secret: passkey.output })),
});

/**
 * The backup of an extractable private key, as text.
 * @param code 16 bytes
 * @param passkey null where no passkey can keep it: then the code alone opens it
 */
export const seal = async (
  key: CryptoKey,
  {
    publicKey,
    code,
    passkey,
  }: {
    publicKey: string;
    code: Uint8Array<ArrayBuffer>;
    passkey: PasskeySecret | null;
  },
): Promise<string> => {
  const slots: Slot[] = [
    { kind: 'code', ...(await sealedUnder(key, { publicKey, kind: 'code', secret: code })) },
  ];
  if (passkey !== null) slots.unshift(await passkeySlot(key, publicKey, passkey));
  return JSON.stringify({ version: 1, public_key: publicKey, slots } satisfies Backup);
};

/** The backup with one more passkey that opens it, in the place of what that passkey opened before. */
export const addPasskey = async (
  backup: Backup,
  key: CryptoKey,
  publicKey: string,
  passkey: PasskeySecret,
): Promise<string> => {
  const others = backup.slots.filter(
    (each) => each.kind !== 'passkey' || each.credential_id !== passkey.credentialId,
  );
  const slots = [await passkeySlot(key, publicKey, passkey), ...others];
  return JSON.stringify({ ...backup, slots } satisfies Backup);
};

/** The passkeys that open a backup, and what the PRF of each is to be asked. */
export const passkeysOf = (backup: Backup): { credentialId: string; salt: Uint8Array<ArrayBuffer> }[] =>
  backup.slots.flatMap((slot) =>
    slot.kind === 'passkey' ? [{ credentialId: slot.credential_id, salt: bytesOf(slot.prf_salt) }] : [],
  );

const TYPO = 'This is not a recovery code of ours: look for a missing or mistaken character.';

/**
 * The private key, which can sign.
 * @param toWrap whether it can be wrapped once more; else nobody can read it
 * @throws LockedError when the secret opens none of the slots
 */
export const unseal = async (
  backup: Backup,
  publicKey: string,
  secret: Secret,
  { toWrap = false } = {},
): Promise<CryptoKey> => {
  const slot = backup.slots.find((each) =>
    each.kind === 'passkey' && secret.kind === 'passkey'
      ? each.credential_id === secret.credentialId
      : each.kind === secret.kind,
  );
  const bytes = secret.kind === 'passkey' ? secret.output : await readCode(secret.code);
  if (bytes === null) throw new LockedError(TYPO);
  const shut = new LockedError(
    secret.kind === 'passkey'
      ? 'This passkey does not open this wallet. Use the one that it was made with, or the recovery code.'
      : 'This recovery code is of another wallet.',
  );
  if (slot === undefined) throw shut;
  try {
    return await crypto.subtle.unwrapKey(
      'pkcs8',
      bytesOf(slot.key),
      await wrappingKey(bytes, bytesOf(slot.salt), slot.kind),
      sealing(bytesOf(slot.iv), slot.kind, publicKey),
      'Ed25519',
      toWrap,
      ['sign'],
    );
  } catch {
    throw shut;
  } finally {
    bytes.fill(0);
  }
};
