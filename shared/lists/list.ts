import { createHmac, timingSafeEqual } from 'node:crypto';
import { invalid, ofAnotherVersion } from '../contract/errors.ts';
import { type Db, leavingOut } from '../db/pool.ts';
import type { Reads } from '../db/reads.ts';
import { ownCell } from '../lib/cell.ts';
import type { Page } from './page.ts';

/**
 * A cursor is `base64url([cell, place]).base64url(mac)`. The mac binds the cursor to the list and
 * its scope, so a foreign or altered cursor is refused. Of a list that is merged over cells, each
 * has a place of its own.
 */
const mac = (key: Buffer, list: string, scope: unknown, place: string): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify([list, scope, place]))
    .digest()
    .subarray(0, 16);

const cursorOf = (key: Buffer, list: string, scope: unknown, place: string): string =>
  `${Buffer.from(place).toString('base64url')}.${mac(key, list, scope, place).toString('base64url')}`;

/** The first key writes cursors, and all are read. */
type CursorKeys = readonly Buffer[];

const openCursor = <Place>(
  keys: CursorKeys,
  list: string,
  scope: unknown,
  cursor: string | undefined,
): Place | null => {
  if (cursor === undefined) return null;
  const place = Buffer.from(cursor.split('.')[0]!, 'base64url').toString('utf8');
  // Compared as text, because decoding would accept several spellings of one cursor.
  const received = Buffer.from(cursor);
  const isOf = (key: Buffer): boolean => {
    const expected = Buffer.from(cursorOf(key, list, scope, place));
    return received.length === expected.length && timingSafeEqual(received, expected);
  };
  if (!keys.some(isOf)) {
    throw invalid('cursor', 'not a cursor of this list; pass its next_cursor unchanged');
  }
  return (JSON.parse(place) as [cell: number, place: Place])[1];
};

const DEFAULT_LIMIT = 20;

/**
 * The maximum size of the items of a page. A NATS message has at most 1 MB, and a hundred of the
 * largest quotes or deliveries exceed it. Such a page has fewer items than the limit.
 */
const PAGE_BYTES = 512 * 1024;

const bytesOf = (item: unknown): number =>
  Buffer.byteLength(JSON.stringify(item, (_name, value) => (typeof value === 'bigint' ? `${value}` : value)));

/**
 * The number of items that fit into a page: at least one, so that the list continues after a large
 * item.
 */
const countFitting = (items: readonly unknown[]): number => {
  let bytes = 0;
  for (const [at, item] of items.entries()) {
    bytes += bytesOf(item);
    if (at > 0 && bytes > PAGE_BYTES) return at;
  }
  return items.length;
};

/** The query fields of every list. The contract limits `limit` to 1..100. */
type PageQuery = { cursor?: string | undefined; limit?: string | undefined };

/** A list: its rows, their order, and their items. */
type List<Filters, Caller, Scope, Row, Place, Item> = {
  /** The rows that the caller requests and may see, as JSON, without the page. */
  scope: (filters: Filters, caller: Caller) => Scope | Promise<Scope>;
  /** The rows of a page in their order, and one more if there is a next page (`limit + 1`). */
  rows: (db: Db, scope: Scope, page: Page<Place>) => Promise<readonly Row[]>;
  /** The value that the list is ordered by, as JSON. */
  place: (row: Row) => Place;
  /** One item for each row, in their order. */
  show: (rows: readonly Row[], caller: Caller) => Item[] | Promise<Item[]>;
};

/**
 * The handler of a list endpoint. Cursor, limit, end of the list and the 512 kB bound are the same
 * for every list.
 * @param name the name of the list, unique among all lists
 * @returns a handler that returns `{ data, next_cursor }`; `next_cursor` is null on the last page
 * @throws ServiceError validation_error for a cursor of another list or scope
 */
export const listHandler =
  <Query extends PageQuery, Caller, Scope, Row, Place, Item>(
    { reads, cursorKeys }: { reads: Reads; cursorKeys: CursorKeys },
    name: string,
    { scope, rows, place, show }: List<Omit<Query, keyof PageQuery>, Caller, Scope, Row, Place, Item>,
  ) =>
  async (
    { cursor, limit: limitText, ...filters }: Query,
    caller: Caller,
  ): Promise<{ data: Item[]; next_cursor: string | null }> => {
    const wanted = await scope(filters, caller);
    const limit = limitText === undefined ? DEFAULT_LIMIT : Number(limitText);
    const page = { before: openCursor<Place>(cursorKeys, name, wanted, cursor), limit };
    let leftOut = 0;
    const found = await reads((db) => {
      leftOut = 0;
      const known = leavingOut(db, (rows) => {
        leftOut += rows;
      });
      return rows(known, wanted, page);
    });
    const items = await show(found.slice(0, limit), caller);
    const data = items.slice(0, countFitting(items));
    const last = found[data.length - 1];
    const more = found.length > data.length || found.length + leftOut > limit;
    // A page of rows that this version does not know names no place to go on from.
    if (more && last === undefined) throw ofAnotherVersion();
    return {
      data,
      next_cursor: more
        ? cursorOf(cursorKeys[0]!, name, wanted, JSON.stringify([ownCell(), place(last!)]))
        : null,
    };
  };

/** The scope of a list of account data: the caller's account and the filters. */
export const ofAccount = <Filters extends object>(
  filters: Filters,
  { account_id }: { account_id: string },
) => ({
  ...filters,
  account_id,
});
