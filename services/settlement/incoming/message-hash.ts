import { createHash } from 'node:crypto';

const SIGNATURE_BYTES = 64;
/** Larger counts have a longer encoding, and no transaction that is accepted here has as many. */
const MAX_SIGNATURES = 127;

/**
 * SHA-256 of the message of a wire transaction, in hexadecimal. The signatures are not part of it,
 * so a changed empty slot gives no second identity. Null: the bytes are too short to have a
 * message.
 * @param transaction base64
 */
export const messageHashOf = (transaction: string): string | null => {
  const wire = Buffer.from(transaction, 'base64');
  const signatures = wire[0] ?? 0;
  const message = wire.subarray(1 + signatures * SIGNATURE_BYTES);
  if (signatures < 1 || signatures > MAX_SIGNATURES || message.length === 0) return null;
  return createHash('sha256').update(message).digest('hex');
};
