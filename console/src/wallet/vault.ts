import { getBase64Decoder, getBase64Encoder } from '@solana/kit';
import * as z from 'zod/mini';
import { parseRecoveryCode } from './recovery-code.ts';

/**
 * The backup of a wallet that was created here (ADR 32). The key is wrapped once by a passkey's PRF
 * and once by the printed recovery code. Each is a slot of the backup, which the API stores and
 * cannot read. HKDF derives an AES-GCM key from the secret. The wallet's address is authenticated
 * with the ciphertext, so that nobody can substitute another key.
 */

const bytesOf = (base64: string) => new Uint8Array(getBase64Encoder().encode(base64));
const base64Of = (bytes: Uint8Array) => getBase64Decoder().decode(bytes);

const base64 = z.string().check(z.regex(/^[A-Za-z0-9+/]+={0,2}$/));
const sealed = { salt: base64, iv: base64, key: base64 };
const PasskeySlot = z.strictObject({
  kind: z.literal('passkey'),
  /** As WebAuthn returns it, base64url. */
  credential_id: z.string().check(z.regex(/^[\w-]+$/)),
  /** The input of the passkey's PRF. */
  prf_salt: base64,
  ...sealed,
});
const CodeSlot = z.strictObject({ kind: z.literal('code'), ...sealed });
const Backup = z.strictObject({
  version: z.literal(1),
  public_key: z.string(),
  slots: z.array(z.discriminatedUnion('kind', [PasskeySlot, CodeSlot])),
});
type Backup = z.infer<typeof Backup>;
type Slot = Backup['slots'][number];
type Kind = Slot['kind'];

/** What opens a slot: the output of a passkey's PRF, or the typed code. */
export type Secret =
  | { kind: 'passkey'; credentialId: string; output: Uint8Array<ArrayBuffer> }
  | { kind: 'code'; code: string };

/** The key was not opened. The message is for the user. */
class LockedError extends Error {
  override readonly name = 'LockedError';
}

/**
 * Parses the backup from the API.
 * @param publicKey the expected wallet
 * @throws LockedError if it has another form, or belongs to another wallet
 */
export const readBackup = (text: string, publicKey: string): Backup => {
  let backup: Backup;
  try {
    backup = Backup.parse(JSON.parse(text));
  } catch {
    throw new LockedError('The backup of this wallet was not created by this console.');
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

/** The output of a passkey's PRF for `salt`. */
export type PasskeySecret = Extract<Secret, { kind: 'passkey' }> & { salt: Uint8Array<ArrayBuffer> };

const passkeySlot = async (key: CryptoKey, publicKey: string, passkey: PasskeySecret): Promise<Slot> => ({
  kind: 'passkey',
  credential_id: passkey.credentialId,
  prf_salt: base64Of(passkey.salt),
  ...(await sealedUnder(key, { publicKey, kind: 'passkey', secret: passkey.output })),
});

/**
 * Makes the backup of an extractable private key, as text.
 * @param code 16 bytes
 * @param passkey null if no passkey can open it; then only the code can
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

/** The backup with a further passkey. It replaces an earlier slot of the same passkey. */
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

/** The passkeys that open a backup, with the PRF input of each. */
export const passkeysOf = (backup: Backup): { credentialId: string; salt: Uint8Array<ArrayBuffer> }[] =>
  backup.slots.flatMap((slot) =>
    slot.kind === 'passkey' ? [{ credentialId: slot.credential_id, salt: bytesOf(slot.prf_salt) }] : [],
  );

const TYPO = 'This is not a recovery code of Quittance: a character is missing or wrong.';

/**
 * Opens the private key for signing.
 * @param toWrap true if it must be wrapped again; otherwise it is not extractable
 * @throws LockedError if the secret opens no slot
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
  const bytes = secret.kind === 'passkey' ? secret.output : await parseRecoveryCode(secret.code);
  if (bytes === null) throw new LockedError(TYPO);
  const shut = new LockedError(
    secret.kind === 'passkey'
      ? 'This passkey does not open this wallet. Use another passkey, or the recovery code.'
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
