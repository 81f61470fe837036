import bs58 from 'bs58';
import {
  privateKeyFromSeed,
  publicKeyFromRaw,
  rawPublicKey,
  signBytes,
  verifyBytes,
} from '../../../shared/lib/chain/ed25519.ts';

/**
 * The port for signing (rule 13): a key in memory, on a PKCS#11 token, or in a KMS
 * (docs/signing-keys.md). Only this file of the service has access to private keys in memory.
 */
export type Signer = {
  publicKey: string;
  /**
   * 64-byte Ed25519 signature over message bytes, which is valid.
   * @throws SignerUnavailable while the key cannot be used
   */
  sign: (message: Uint8Array) => Promise<Uint8Array>;
};

/** Nothing was signed. The same call may succeed later. */
export class SignerUnavailable extends Error {}

/**
 * A signer whose key is elsewhere. A wrong signature is refused here, so that it is never sent.
 * @param signElsewhere returns the 64-byte signature
 */
export const outgoingSigner = (publicKey: string, signElsewhere: Signer['sign']): Signer => {
  const key = publicKeyFromRaw(bs58.decode(publicKey));
  return {
    publicKey,
    sign: async (message) => {
      const signature = await signElsewhere(message).catch((cause: unknown) => {
        const reason = cause instanceof Error ? cause.message : 'It failed.';
        throw new SignerUnavailable(`The key ${publicKey} cannot sign. ${reason}`, { cause });
      });
      if (!verifyBytes(message, signature, key))
        throw new SignerUnavailable(
          `The signature of the key ${publicKey} is wrong and was discarded. Check the token or KMS.`,
        );
      return signature;
    },
  };
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
