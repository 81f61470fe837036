import { createHmac, timingSafeEqual } from 'node:crypto';
import { invalid } from '../contract/errors.ts';
import type { Db } from '../db/pool.ts';
import type { Page } from './page.ts';

/**
 * A cursor is `base64url(place).base64url(mac)`. The mac binds the cursor to the list and its
 * scope, so that a foreign or altered one is refused instead of showing another page.
 */
const mac = (key: Buffer, list: string, scope: unknown, place: string): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify([list, scope, place]))
    .digest()
    .subarray(0, 16);

const cursorOf = (key: Buffer, list: string, scope: unknown, place: string): string =>
  `${Buffer.from(place).toString('base64url')}.${mac(key, list, scope, place).toString('base64url')}`;

const openCursor = <Place>(
  key: Buffer,
  list: string,
  scope: unknown,
  cursor: string | undefined,
): Place | null => {
  if (cursor === undefined) return null;
  const place = Buffer.from(cursor.split('.')[0]!, 'base64url').toString('utf8');
  // Compared as text: decoding would accept several spellings of the same cursor.
  const [received, expected] = [Buffer.from(cursor), Buffer.from(cursorOf(key, list, scope, place))];
  if (received.length !== expected.length || !timingSafeEqual(received, expected)) {
    throw invalid('cursor', 'not a cursor of this list');
  }
  return JSON.parse(place) as Place;
};

const DEFAULT_LIMIT = 20;

/**
 * What the items of a page may have together. A NATS message has at most 1 MB, and a hundred of the
 * largest quotes or deliveries have more: such a page is shorter than the limit.
 */
const PAGE_BYTES = 512 * 1024;

const bytesOf = (item: unknown): number =>
  Buffer.byteLength(JSON.stringify(item, (_name, value) => (typeof value === 'bigint' ? `${value}` : value)));

/**
 * How many items fit into one page: at least one, so that a list with one large item does not stop
 * there.
 */
const countFitting = (items: readonly unknown[]): number => {
  let bytes = 0;
  for (const [at, item] of items.entries()) {
    bytes += bytesOf(item);
    if (at > 0 && bytes > PAGE_BYTES) return at;
  }
  return items.length;
};

/** Query fields of every list. The contract has bounded `limit` to 1..100. */
type PageQuery = { cursor?: string | undefined; limit?: string | undefined };

/** One list: which rows, in which order, and how they are shown. */
type List<Filters, Caller, Scope, Row, Place, Item> = {
  /** Which rows the caller asks for and may see, as JSON: everything but the page itself. */
  scope: (filters: Filters, caller: Caller) => Scope | Promise<Scope>;
  /** The rows of a page in their order, and one more where there is a next page (`limit + 1`). */
  rows: (db: Db, scope: Scope, page: Page<Place>) => Promise<readonly Row[]>;
  /** What the list is ordered by, as JSON. */
  place: (row: Row) => Place;
  /** One item for each row, in their order. */
  show: (rows: readonly Row[], caller: Caller) => Item[] | Promise<Item[]>;
};

/**
 * The handler of a list endpoint: cursor, limit, page end and the 512 kB bound are the same for
 * every list.
 * @param name of the list, unique among all lists
 * @returns a handler that answers `{ data, next_cursor }`, `next_cursor` null on the last page
 * @throws ServiceError validation_error for a cursor that was not made for exactly this list and
 *   scope
 */
export const listHandler =
  <Query extends PageQuery, Caller, Scope, Row, Place, Item>(
    { pool, cursorKey: key }: { pool: Db; cursorKey: Buffer },
    name: string,
    { scope, rows, place, show }: List<Omit<Query, keyof PageQuery>, Caller, Scope, Row, Place, Item>,
  ) =>
  async (
    { cursor, limit: limitText, ...filters }: Query,
    caller: Caller,
  ): Promise<{ data: Item[]; next_cursor: string | null }> => {
    const wanted = await scope(filters, caller);
    const limit = limitText === undefined ? DEFAULT_LIMIT : Number(limitText);
    const found = await rows(pool, wanted, { before: openCursor(key, name, wanted, cursor), limit });
    const items = await show(found.slice(0, limit), caller);
    const data = items.slice(0, countFitting(items));
    const last = found[data.length - 1];
    const more = found.length > data.length && last !== undefined;
    return {
      data,
      next_cursor: more ? cursorOf(key, name, wanted, JSON.stringify(place(last))) : null,
    };
  };

/** The scope of a list whose rows belong to accounts: the caller's account and the filters. */
export const ofAccount = <Filters extends object>(
  filters: Filters,
  { account_id }: { account_id: string },
) => ({
  ...filters,
  account_id,
});
