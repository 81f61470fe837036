import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Environment } from '../../contract/primitives.ts';
import { BASE62, withCell } from '../cell.ts';

/**
 * The text of an API key (docs/spec/decisions.md, Services): a prefix, 43 base62 characters of 246
 * random bits and the cell, and 6 base62 characters of the CRC32 of the text before. The checksum
 * is public: it detects a typo without a database query, and lets secret scanners recognise a key.
 */
const SECRET_LENGTH = 43; // 62^43 > 2^256
const CHECKSUM_LENGTH = 6; // 62^6 > 2^32
const TEXT = /^(vendor|dk)_(test|live)_[0-9A-Za-z]{49}$/;
const KINDS = { vendor: 'service_key', dk: 'delegate_key' } as const;

type KeyPrefix = `${keyof typeof KINDS}_${Environment}_`;
/** What every key begins with. */
export const KEY_PREFIXES = [
  'vendor_test_',
  'vendor_live_',
  'dk_test_',
  'dk_live_',
] as const satisfies KeyPrefix[];
type ParsedKey = { kind: 'service_key' | 'delegate_key'; environment: Environment; hash: string };

const base62 = (value: bigint, length: number): string => {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = BASE62[Number(rest % 62n)] + text;
  return text.padStart(length, '0');
};

/** With numbers, because every call has a key to check and BigInt takes several times as long. */
const checksum = (text: string): string => {
  let digits = '';
  for (let rest = crc32(text); digits.length < CHECKSUM_LENGTH; rest = Math.floor(rest / 62))
    digits = BASE62[rest % 62] + digits;
  return digits;
};

/**
 * The SHA-256 of the key's text as base64url. Only it and `beginningOf` are stored. A slow hash is
 * unnecessary for 246 random bits.
 */
export const keyHash = (text: string): string => hash('sha256', text, 'base64url');

/** Leaves 222 of 246 random bits unknown. */
const SHOWN_LENGTH = 4;

/** How a key begins, so that its owner recognises it in a list. */
export const beginningOf = (text: string): string => text.slice(0, text.lastIndexOf('_') + 1 + SHOWN_LENGTH);

/** A new key. The text is shown once and never stored. */
export const createKeyText = (prefix: KeyPrefix): string => {
  const secret = base62(BigInt(`0x${withCell(randomBytes(32)).toString('hex')}`), SECRET_LENGTH);
  return `${prefix}${secret}${checksum(prefix + secret)}`;
};

/**
 * The parts of a key's text with its hash, or null if the text is no key. The key need not exist.
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
