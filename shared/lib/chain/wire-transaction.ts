import { createHash } from 'node:crypto';

/**
 * Solana's wire format: the number of signatures, the signatures, the message. Messages are bytes
 * everywhere, so that the checked, signed, stored and sent message is the same.
 */
const SIGNATURE_BYTES = 64;
const MAX_WIRE_BYTES = 1232;
const MAX_SIGNATURES = 19;
const VERSIONED = 0x80;

/** The wire bytes of a message and its signatures. Null leaves a slot empty (64 zero bytes). */
export const assemble = (message: Uint8Array, signatures: readonly (Uint8Array | null)[]): Buffer =>
  Buffer.concat([
    Uint8Array.of(signatures.length),
    ...signatures.map((signature) => signature ?? new Uint8Array(SIGNATURE_BYTES)),
    message,
  ]);

/**
 * Splits wire bytes into signatures and message.
 * @throws Error when they are too long, too short, or the number of signatures differs from the
 *   message's
 */
export const disassemble = (wire: Uint8Array): { signatures: Uint8Array[]; message: Uint8Array } => {
  const count = wire[0] ?? 0;
  const start = 1 + count * SIGNATURE_BYTES;
  // Below 128 the compact length is one byte; a transaction of 1232 bytes holds at most 19
  // signatures.
  if (wire.length > MAX_WIRE_BYTES || count === 0 || count > MAX_SIGNATURES || wire.length <= start) {
    throw new Error('The bytes are not a wire transaction.');
  }
  const message = wire.subarray(start);
  // The highest bit of the first byte marks a versioned message, whose header follows it.
  const signers = message[0]! < VERSIONED ? message[0] : message[1];
  if (signers !== count) throw new Error('The number of signatures differs from the number of signers.');
  return {
    signatures: Array.from({ length: count }, (_, index) =>
      wire.subarray(1 + index * SIGNATURE_BYTES, 1 + (index + 1) * SIGNATURE_BYTES),
    ),
    message,
  };
};

/** Whether a slot holds no signature. */
export const isEmptySignature = (signature: Uint8Array): boolean => signature.every((byte) => byte === 0);

/** Whether somebody else has to sign wire bytes before they can be sent. */
export const isIncomplete = (wire: Uint8Array): boolean =>
  wire.length > 0 && disassemble(wire).signatures.some(isEmptySignature);

/**
 * The identity of a signed message in every service: SHA-256 of its bytes, in hexadecimal. The
 * signatures are not part of it, so other bytes in an empty slot give no second identity.
 */
export const hashMessage = (message: Uint8Array): string =>
  createHash('sha256').update(message).digest('hex');

/**
 * The message of a transaction, or null when the bytes are no wire transaction.
 * @param transaction base64
 */
export const messageOf = (transaction: string): Uint8Array | null => {
  try {
    return disassemble(Buffer.from(transaction, 'base64')).message;
  } catch {
    return null;
  }
};

/** The identity of a transaction's message, or null when the bytes are no wire transaction. */
export const messageHashOf = (transaction: string): string | null => {
  const message = messageOf(transaction);
  return message === null ? null : hashMessage(message);
};
