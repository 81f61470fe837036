import bs58 from 'bs58';
import { publicKeyFromRaw, verifyBytes } from '../../../shared/lib/chain/ed25519.ts';

/** Bytes of an Ed25519 signature. */
const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const MAX_SIGNATURES = 19;

/** A transaction of any sender, as a provider returns it. */
export type IncludedTransaction = {
  /** The first signature, which identifies the transaction. */
  signature: string;
  message: Uint8Array;
  /** The signature of a signer, by its place. */
  signatureAt: (index: number) => Uint8Array;
  /** How many accounts the message itself names. Those of lookup tables follow them. */
  accounts: number;
  /** An account that the message itself names; undefined for an account of a lookup table. */
  accountAt: (index: number) => string | undefined;
  /**
   * The account whose key made the first signature over these bytes, or null when the signature
   * does not verify. Nobody can produce other bytes or another key for a given signature. One
   * provider's answer therefore proves that a transaction has a foreign fee payer.
   */
  feePayer: () => string | null;
};

/**
 * Parses a transaction of any version.
 * @throws Error when the bytes are no transaction
 */
export const parseIncluded = (wire: Uint8Array): IncludedTransaction => {
  const signatures = wire[0] ?? 0;
  const signature = wire.subarray(1, 1 + SIGNATURE_BYTES);
  const message = wire.subarray(1 + signatures * SIGNATURE_BYTES);
  // The first byte of a versioned message has its highest bit set. Three bytes of header follow.
  const header = (message[0] ?? 0) >= 0x80 ? 1 : 0;
  const [low = 0, high = 0] = message.subarray(header + 3);
  const [keys, start] = low < 0x80 ? [low, header + 4] : [(low & 0x7f) | (high << 7), header + 5];
  if (signatures === 0 || signatures > MAX_SIGNATURES || keys === 0)
    throw new Error('The bytes are not a transaction.');
  if (message.length < start + keys * KEY_BYTES) throw new Error('The transaction is too short.');
  // Balances are read account by account, and base58 encoding is expensive.
  const addresses: string[] = [];
  const keyAt = (index: number) =>
    message.subarray(start + index * KEY_BYTES, start + (index + 1) * KEY_BYTES);
  return {
    signature: bs58.encode(signature),
    message,
    accounts: keys,
    signatureAt: (index) => wire.subarray(1 + index * SIGNATURE_BYTES, 1 + (index + 1) * SIGNATURE_BYTES),
    accountAt: (index) => {
      if (index >= keys) return undefined;
      addresses[index] ??= bs58.encode(keyAt(index));
      return addresses[index];
    },
    feePayer: () =>
      verifyBytes(message, signature, publicKeyFromRaw(keyAt(0))) ? bs58.encode(keyAt(0)) : null,
  };
};
