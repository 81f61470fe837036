import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/**
 * Ed25519 (RFC 8032) by node:crypto, the fastest choice on the server
 * (docs/design/choices.md). The portable implementation is @noble/ed25519, and a test compares
 * both.
 */

// The RFC 8410 DER prefixes of a raw 32-byte seed and a raw 32-byte public key.
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/** Private key from its 32-byte seed. */
export const privateKeyFromSeed = (seed: Uint8Array): KeyObject => {
  if (seed.length !== 32) throw new RangeError('an Ed25519 seed has 32 bytes');
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
};

/** Public key from its 32 raw bytes. */
export const publicKeyFromRaw = (raw: Uint8Array): KeyObject => {
  if (raw.length !== 32) throw new RangeError('an Ed25519 public key has 32 bytes');
  return createPublicKey({ key: Buffer.concat([SPKI_HEAD, raw]), format: 'der', type: 'spki' });
};

/** The 32 raw bytes of a key's public half. */
export const rawPublicKey = (key: KeyObject): Uint8Array =>
  new Uint8Array(
    (key.type === 'private' ? createPublicKey(key) : key)
      .export({ format: 'der', type: 'spki' })
      .subarray(-32),
  );

/** 64-byte signature over the bytes. */
export const signBytes = (bytes: Uint8Array, key: KeyObject): Uint8Array =>
  new Uint8Array(sign(null, bytes, key));

/** Whether a signature is valid. Never throws for any input. */
export const verifyBytes = (bytes: Uint8Array, signature: Uint8Array, key: KeyObject): boolean =>
  signature.length === 64 && verify(null, bytes, key, signature);
