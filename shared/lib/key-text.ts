import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Environment } from '../contract/primitives.ts';

/**
 * The text of an API key (docs/spec/decisions.md, Services): prefix, 43 base62 characters of 256
 * random bits, 6 base62 characters of the CRC32 over all before. The checksum is no secret: it
 * refuses a typo without a look-up and lets a secret scanner tell a key from other text.
 */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 43; // 62^43 > 2^256
const CHECKSUM_LENGTH = 6; // 62^6 > 2^32
const TEXT = /^(vendor|dk)_(test|live)_[0-9A-Za-z]{49}$/;
const KINDS = { vendor: 'service_key', dk: 'delegate_key' } as const;

type KeyPrefix = `${keyof typeof KINDS}_${Environment}_`;
type ParsedKey = { kind: 'service_key' | 'delegate_key'; environment: Environment; hash: string };

const base62 = (value: bigint, length: number): string => {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = BASE62[Number(rest % 62n)] + text;
  return text.padStart(length, '0');
};

const checksum = (text: string): string => base62(BigInt(crc32(text)), CHECKSUM_LENGTH);

/** SHA-256 of the key's text as base64url: all that is kept of a key. A slow hash would add nothing to 256 random bits. */
export const keyHash = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** A new key. The text is shown once and never stored. */
export const createKeyText = (prefix: KeyPrefix): string => {
  const secret = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), SECRET_LENGTH);
  return `${prefix}${secret}${checksum(prefix + secret)}`;
};

/**
 * What a key's text says of itself, with the hash to look it up by; null when it is not the text of a key. Says
 * nothing on whether the key exists.
 */
export const parseKeyText = (text: string): ParsedKey | null => {
  const match = TEXT.exec(text);
  if (match === null || checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH))
    return null;
  return {
    kind: KINDS[match[1] as keyof typeof KINDS],
    environment: match[2] as Environment,
    hash: keyHash(text),
  };
};
