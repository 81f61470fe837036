import bs58 from 'bs58';
import { z } from 'zod';
import { privateKeyFromSeed, rawPublicKey, signBytes } from '../../../shared/lib/ed25519.ts';

/**
 * The port behind which signing sits (rule 13): a KMS can stand in its place. Nothing else in this service sees
 * a private key.
 */
export type Signer = {
  publicKey: string;
  /** 64-byte Ed25519 signature over message bytes. */
  sign: (message: Uint8Array) => Promise<Uint8Array>;
};

/** Signer over a key in memory. @throws RangeError unless the text is 64 bytes whose halves belong together. */
export const keySigner = (secretKey: string): Signer => {
  const bytes = bs58.decode(secretKey);
  if (bytes.length !== 64) throw new RangeError('a secret key has 64 bytes');
  const key = privateKeyFromSeed(bytes.subarray(0, 32));
  const publicKey = bs58.encode(rawPublicKey(key));
  if (publicKey !== bs58.encode(bytes.subarray(32))) throw new RangeError('the public half is another key’s');
  return { publicKey, sign: async (message) => signBytes(message, key) };
};

/** Base58 of the 64-byte secret key, as a signer. For a zod config schema. */
export const SecretKey = z.string().transform((text, context): Signer => {
  try {
    return keySigner(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'must be a 64-byte secret key in base58' });
    return z.NEVER;
  }
});

export type NumberedSigner = { number: number; signer: Signer };

/** `number:key` pairs, comma separated, all different; in the order they are written. For a zod config schema. */
export const NumberedSecretKeys = z.string().transform((text, context): NumberedSigner[] => {
  const numbered = text.split(',').map((part) => {
    const [number, key, ...rest] = part.trim().split(':');
    const parsed = SecretKey.safeParse(key);
    return /^[1-9][0-9]{0,5}$/.test(number ?? '') && rest.length === 0 && parsed.success
      ? { number: Number(number), signer: parsed.data }
      : null;
  });
  const valid = numbered.filter((entry) => entry !== null);
  const distinct = (values: unknown[]) => new Set(values).size === numbered.length;
  if (
    !distinct(valid.map(({ number }) => number)) ||
    !distinct(valid.map(({ signer }) => signer.publicKey))
  ) {
    context.addIssue({
      code: 'custom',
      message: 'must be number:secret-key, comma separated, all different',
    });
    return z.NEVER;
  }
  return valid;
});

/** The highest number first. */
export const newestFirst = (keys: readonly NumberedSigner[]): NumberedSigner[] =>
  [...keys].sort((a, b) => b.number - a.number);

/** All keys of this service. Fee payers only ever pay; delegate authorities only ever spend. */
export type Signers = {
  /** The first pays for what is built now; the others co-sign what was prepared with them. */
  feePayers: readonly Signer[];
  /** Newest first. */
  delegateAuthorities: readonly Signer[];
  fundingAuthority: Signer | null;
};

/** Signs message bytes for the given signers, in their order. @throws Error for a key that is not ours. */
export const signFor = (
  signers: Signers,
  addresses: readonly string[],
  message: Uint8Array,
): Promise<Uint8Array[]> =>
  Promise.all(
    addresses.map((address) => {
      const own = [...signers.feePayers, ...signers.delegateAuthorities, signers.fundingAuthority];
      const signer = own.find((one) => one?.publicKey === address);
      if (!signer) throw new Error('a required signer is not ours');
      return signer.sign(message);
    }),
  );
