import bs58 from 'bs58';
import { PROGRAMS } from '../ledger/model/programs.ts';
import type { ChainAccount } from '../ledger/model/token-account.ts';

const HEADER_BYTES = 56;
const KEY_BYTES = 32;
/** The first field of an account that is a table. */
const TABLE = 1;
const ACTIVE = 2n ** 64n - 1n;
const DEACTIVATED_AT = 4;

/**
 * The addresses of a lookup table; null for any other account, and for a table that is
 * deactivated, because it can be closed soon.
 */
export const readLookupTable = (account: ChainAccount | null): string[] | null => {
  if (account?.owner !== PROGRAMS.lookupTable) return null;
  const data = Buffer.from(account.data);
  if (data.length < HEADER_BYTES || (data.length - HEADER_BYTES) % KEY_BYTES !== 0) return null;
  if (data.readUInt32LE(0) !== TABLE || data.readBigUInt64LE(DEACTIVATED_AT) !== ACTIVE) return null;
  return Array.from({ length: (data.length - HEADER_BYTES) / KEY_BYTES }, (_, index) =>
    bs58.encode(data.subarray(HEADER_BYTES + index * KEY_BYTES, HEADER_BYTES + (index + 1) * KEY_BYTES)),
  );
};
