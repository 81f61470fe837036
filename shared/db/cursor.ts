import { createHmac, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../contract/errors.ts';

/**
 * List cursors: `base64url(last id).base64url(mac)`. The mac binds the cursor to the list, the caller and the
 * filters, so that a foreign or altered one is refused instead of silently showing another page.
 */
const mac = (key: Buffer, binding: readonly unknown[], lastId: string): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify([...binding, lastId]))
    .digest()
    .subarray(0, 16);

const cursorOf = (key: Buffer, binding: readonly unknown[], lastId: string): string =>
  `${Buffer.from(lastId).toString('base64url')}.${mac(key, binding, lastId).toString('base64url')}`;

const DEFAULT_LIMIT = 20;

/** Page size from the query text, which the contract has bounded to 1..100. */
export const pageLimit = (limit: string | undefined): number =>
  limit === undefined ? DEFAULT_LIMIT : Number(limit);

/**
 * The id after which the page begins, or null for the first page.
 * @throws ServiceError validation_error for a cursor that was not made for exactly this list, caller and filters.
 */
export const openCursor = (
  key: Buffer,
  binding: readonly unknown[],
  cursor: string | undefined,
): string | null => {
  if (cursor === undefined) return null;
  const lastId = Buffer.from(cursor.split('.')[0]!, 'base64url').toString('utf8');
  // Compared as text: decoding would take several spellings for the same cursor.
  const [given, expected] = [Buffer.from(cursor), Buffer.from(cursorOf(key, binding, lastId))];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new ServiceError('validation_error', 'cursor: not a cursor of this list', {
      details: [{ path: 'cursor', message: 'not a cursor of this list' }],
    });
  }
  return lastId;
};

/**
 * What the items of a page have together. A message of NATS has 1 MB, and a hundred of the largest quotes or of the longest
 * logs of deliveries have more: such a page is shorter than was asked for.
 */
const PAGE_BYTES = 512 * 1024;

const bytesOf = (item: unknown): number =>
  Buffer.byteLength(JSON.stringify(item, (_name, value) => (typeof value === 'bigint' ? `${value}` : value)));

/**
 * The list answer from limit + 1 rows in their order: what is left over tells that there is a next page.
 * @param idOf the id that the list is ordered by
 */
export const pageOf = <Row, Item>(
  rows: readonly Row[],
  limit: number,
  {
    key,
    binding,
    idOf,
    show,
  }: { key: Buffer; binding: readonly unknown[]; idOf: (row: Row) => string; show: (row: Row) => Item },
): { data: Item[]; next_cursor: string | null } => {
  const data: Item[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, limit)) {
    const item = show(row);
    bytes += bytesOf(item);
    if (data.length > 0 && bytes > PAGE_BYTES) break;
    data.push(item);
  }
  const last = rows[data.length - 1];
  const more = rows.length > data.length && last !== undefined;
  return { data, next_cursor: more ? cursorOf(key, binding, idOf(last)) : null };
};
