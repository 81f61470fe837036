import { createHash, randomUUID } from 'node:crypto';
import { TypeID, typeid } from 'typeid-js';

/** Prefixes of docs/spec/decisions.md, and those of inner records (key_, fund_, prep_). */
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
  | 'whe';

/** TypeID: prefix + UUIDv7 in base32, so ids sort by time and keyset pages need no second column. */
export const newId = (prefix: IdPrefix): string => typeid(prefix).toString();

/** A vendor service's id is a bare UUID (docs/spec/interface.md). */
export const newServiceId = (): string => randomUUID();

/**
 * The id of something that another object stands for: always the same of the same, and of its age, so that it needs
 * no column. The random part of a UUIDv7 is made of the object's id and the name.
 */
export const derivedId = (prefix: IdPrefix, objectId: string, name: string): string => {
  const bytes = TypeID.fromString(objectId).toUUIDBytes();
  const digest = createHash('sha256').update(`${objectId} ${name}`).digest();
  bytes.set(digest.subarray(0, 8), 8);
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return TypeID.fromUUIDBytes(prefix, bytes).toString();
};
