import bs58 from 'bs58';
import { z } from 'zod';
import { privateKeyFromSeed, rawPublicKey, signBytes } from '../../../shared/lib/ed25519.ts';

/**
 * The port for signing (rule 13), which a KMS can implement. Only this file of the service has
 * access to private keys.
 */
type Signer = {
  publicKey: string;
  /** 64-byte Ed25519 signature over message bytes. */
  sign: (message: Uint8Array) => Promise<Uint8Array>;
};

/**
 * A signer with its key in memory. @throws RangeError unless the text is 64 bytes and its halves
 * match
 */
export const keySigner = (secretKey: string): Signer => {
  const bytes = bs58.decode(secretKey);
  if (bytes.length !== 64) throw new RangeError('A secret key must have 64 bytes.');
  const key = privateKeyFromSeed(bytes.subarray(0, 32));
  const publicKey = bs58.encode(rawPublicKey(key));
  if (publicKey !== bs58.encode(bytes.subarray(32)))
    throw new RangeError('The public half of the secret key does not match its private half.');
  return { publicKey, sign: async (message) => signBytes(message, key) };
};

/** The zod schema of a setting that holds the base58 text of a 64-byte secret key. */
export const SecretKey = z.string().transform((text, context): Signer => {
  try {
    return keySigner(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'must be a 64-byte secret key in base58' });
    return z.NEVER;
  }
});

type NumberedSigner = { number: number; signer: Signer };

/**
 * The zod schema of a setting that holds distinct `number:key` pairs, comma separated. Keeps their
 * order.
 */
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

/** The keys by number, highest first. */
export const newestFirst = (keys: readonly NumberedSigner[]): NumberedSigner[] =>
  [...keys].sort((a, b) => b.number - a.number);

/**
 * All keys of this service. Fee payers only pay fees and rent, and delegate authorities only move
 * tokens.
 */
export type Signers = {
  /**
   * The first pays for new transactions. The others co-sign the transactions that were prepared
   * with them.
   */
  feePayers: readonly Signer[];
  /** Newest first. */
  delegateAuthorities: readonly Signer[];
  fundingAuthority: Signer | null;
};

/**
 * Signs message bytes for the given addresses, in their order. @throws Error for an address without
 * a key here
 */
export const signFor = (
  signers: Signers,
  addresses: readonly string[],
  message: Uint8Array,
): Promise<Uint8Array[]> =>
  Promise.all(
    addresses.map((address) => {
      const own = [...signers.feePayers, ...signers.delegateAuthorities, signers.fundingAuthority];
      const signer = own.find((one) => one?.publicKey === address);
      if (!signer) throw new Error('The message requires a signer whose key is not configured.');
      return signer.sign(message);
    }),
  );
