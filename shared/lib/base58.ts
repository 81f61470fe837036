import bs58 from 'bs58';

/** Base58 text of bytes, as Solana writes keys and signatures. */
export const encodeBase58 = (bytes: Uint8Array): string => bs58.encode(bytes);

/**
 * The bytes of a base58 text when it has exactly that many, else null; never throws on attacker's
 * text.
 */
export const decodeBase58 = (text: string, length: number): Uint8Array | null => {
  const bytes = bs58.decodeUnsafe(text);
  return bytes !== undefined && bytes.length === length ? bytes : null;
};
