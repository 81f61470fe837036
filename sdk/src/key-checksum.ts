/**
 * The checksum of an API key: its last 6 characters are the CRC32 of the others in base62. So a
 * mistyped key is refused without a call. The API makes keys (shared/lib/tokens/key-text.ts).
 */

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM_LENGTH = 6;
const TEXT = /^(vendor|dk)_(test|live)_[0-9A-Za-z]{49}$/;

/** CRC32 as in zlib, bit by bit, because a program checks few keys. */
const crc32 = (text: string): number => {
  let crc = 0xff_ff_ff_ff;
  for (let at = 0; at < text.length; at += 1) {
    crc ^= text.charCodeAt(at);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xed_b8_83_20 : 0);
  }
  return ~crc >>> 0;
};

/**
 * False: a character of the key is missing or another one. True says nothing about its existence.
 */
export const isWholeKey = (key: string): boolean => {
  if (!TEXT.test(key)) return false;
  let checksum = '';
  for (let rest = crc32(key.slice(0, -CHECKSUM_LENGTH)); checksum.length < CHECKSUM_LENGTH; )
    [checksum, rest] = [BASE62[rest % 62] + checksum, Math.floor(rest / 62)];
  return key.endsWith(checksum);
};
