import { createHash, randomUUID } from 'node:crypto';
import { TypeID, typeid } from 'typeid-js';

/** The prefixes of docs/spec/decisions.md and of internal records (key_, fund_, prep_, sev_). */
type IdPrefix =
  | 'q'
  | 'stl'
  | 'acct'
  | 'wal'
  | 'del'
  | 'dep'
  | 'key'
  | 'ses'
  | 'pk'
  | 'link'
  | 'wd'
  | 'ref'
  | 'fund'
  | 'prep'
  | 'txn'
  | 'evt'
  | 'whe'
  | 'apr'
  | 'dcl'
  | 'sev';

/**
 * A TypeID: the prefix and a UUIDv7 in base32. Ids sort by time, so keyset pages need no second
 * column.
 */
export const newId = (prefix: IdPrefix): string => typeid(prefix).toString();

/** The id of a vendor service is a plain UUID (docs/spec/interface.md). */
export const newServiceId = (): string => randomUUID();

/**
 * An id derived from another id and a name. It is always the same and has the same time, so it
 * needs no column. The name and the id determine the random part of the UUIDv7.
 */
export const derivedId = (prefix: IdPrefix, objectId: string, name: string): string => {
  const bytes = TypeID.fromString(objectId).toUUIDBytes();
  const digest = createHash('sha256').update(`${objectId} ${name}`).digest();
  bytes.set(digest.subarray(0, 8), 8);
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return TypeID.fromUUIDBytes(prefix, bytes).toString();
};
