import bs58 from 'bs58';

/** The base58 text of bytes, as Solana writes keys and signatures. */
export const encodeBase58 = (bytes: Uint8Array): string => bs58.encode(bytes);

/** The bytes of a base58 text, or null if their number is another. Never throws for any input. */
export const decodeBase58 = (text: string, length: number): Uint8Array | null => {
  const bytes = bs58.decodeUnsafe(text);
  return bytes !== undefined && bytes.length === length ? bytes : null;
};
