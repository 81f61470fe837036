import { createHash, randomUUID } from 'node:crypto';
import { TypeID, typeid } from 'typeid-js';
import { cellSuffix, withCell } from './cell.ts';

/** The prefixes of docs/spec/decisions.md and of internal records (key_, fund_, prep_, sev_). */
type IdPrefix =
  | 'q'
  | 'pl'
  | 'stl'
  | 'ext'
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

/** Ten bits, which are the last two characters of a TypeID. */
const CELL_CHARACTERS = 2;

/**
 * A TypeID: the prefix and a UUIDv7 in base32, of which the last ten bits are the cell
 * (docs/adr/0071). Ids sort by time, so keyset pages need no second column.
 */
export const newId = (prefix: IdPrefix): string =>
  typeid(prefix).toString().slice(0, -CELL_CHARACTERS) + cellSuffix();

const TIME_BYTES = 6;

/** A bound between the ids that were made before a time and those made at it or later. */
export const idBoundAt = (prefix: IdPrefix, epochMs: number): string => {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(Math.max(0, epochMs), 0, TIME_BYTES);
  return TypeID.fromUUIDBytes(prefix, bytes).toString();
};

/** The id of a vendor service is a plain UUID (docs/spec/interface.md) that ends with the cell. */
export const newServiceId = (): string => {
  const digits = withCell(Buffer.from(randomUUID().replaceAll('-', ''), 'hex')).toString('hex');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
};

/**
 * An id derived from another id and a name. It is always the same and has the same time, so it
 * needs no column. The name and the id determine the random part of the UUIDv7. The cell is the
 * object's: two cells that derive the id of one object derive the same.
 */
export const derivedId = (prefix: IdPrefix, objectId: string, name: string): string => {
  const bytes = TypeID.fromString(objectId).toUUIDBytes();
  const digest = createHash('sha256').update(`${objectId} ${name}`).digest();
  bytes.set(digest.subarray(0, 8), 8);
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const id = TypeID.fromUUIDBytes(prefix, bytes).toString();
  return id.slice(0, -CELL_CHARACTERS) + objectId.slice(-CELL_CHARACTERS);
};
