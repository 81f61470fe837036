import { randomUUID } from 'node:crypto';
import { typeid } from 'typeid-js';

/** Prefixes of decisions.md, and those of inner records (fund_, prep_) that never leave their service's answers. */
export type IdPrefix =
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
  | 'evt';

/** TypeID: prefix + UUIDv7 in base32, so ids sort by time and keyset pages need no second column. */
export const newId = (prefix: IdPrefix): string => typeid(prefix).toString();

/** A vendor service's id is a bare UUID (interface.md). */
export const newServiceId = (): string => randomUUID();
