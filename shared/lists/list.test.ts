import { expect, test } from '@jest/globals';
import { ServiceError } from '../contract/errors.ts';
import { readsOf } from '../db/reads.ts';
import { listHandler } from './list.ts';
import type { Page } from './page.ts';

const key = Buffer.alloc(32, 1);
const reads = readsOf(null as never);
const payer = { account_id: 'acct_1' };

/** A list of rows that are ordered by their own value, newest first. */
const listOf = (
  rows: readonly string[],
  { keys = [key], name = 'settlements' }: { keys?: Buffer[]; name?: string } = {},
) =>
  listHandler<
    { cursor?: string; limit?: string; status?: string },
    typeof payer,
    object,
    string,
    string,
    string
  >({ reads, cursorKeys: keys }, name, {
    scope: (filters, caller) => ({ ...filters, ...caller }),
    rows: async (_db, _scope, { before, limit }: Page) => {
      const start = before === null ? 0 : rows.indexOf(before) + 1;
      return rows.slice(start, start + limit + 1);
    },
    place: (row) => row,
    show: (page) => [...page],
  });

test('a page has a cursor only if there is a next page', async () => {
  expect(await listOf([])({ limit: '2' }, payer)).toEqual({ data: [], next_cursor: null });
  expect(await listOf(['c', 'b'])({ limit: '2' }, payer)).toEqual({ data: ['c', 'b'], next_cursor: null });
  const list = listOf(['c', 'b', 'a']);
  const { data, next_cursor } = await list({ limit: '2' }, payer);
  expect(data).toEqual(['c', 'b']);
  expect(await list({ limit: '2', cursor: next_cursor! }, payer)).toEqual({ data: ['a'], next_cursor: null });
  const many = listOf(Array.from({ length: 101 }, (_, n) => `${n}`));
  expect((await many({}, payer)).data).toHaveLength(20);
  expect((await many({ limit: '100' }, payer)).data).toHaveLength(100);
});

test('a page of large items ends before the message is too large, and the pages return each item once', async () => {
  const rows = Array.from({ length: 100 }, (_, n) => `${String(n).padStart(3, '0')}${'ü'.repeat(8000)}`);
  const list = listOf(rows);
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof list>> = await list(
      { limit: '100', ...(cursor !== null && { cursor }) },
      payer,
    );
    expect(Buffer.byteLength(JSON.stringify(page.data))).toBeLessThan(600_000);
    seen.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect(seen).toEqual(rows);
  // An item over the bound is returned alone.
  expect((await listOf(['x'.repeat(600_000), 'y'])({ limit: '2' }, payer)).data).toHaveLength(1);
});

test('a cursor of each key of the list is read, and the first key writes', async () => {
  const next = Buffer.alloc(32, 5);
  const rows = ['c', 'b', 'a'];
  const cursorOf = async (keys: Buffer[]) =>
    (await listOf(rows, { keys })({ limit: '1' }, payer)).next_cursor!;
  const read = (cursor: string, keys: Buffer[]) => listOf(rows, { keys })({ limit: '1', cursor }, payer);
  const [old, fresh] = [await cursorOf([key, next]), await cursorOf([next, key])];
  for (const keys of [
    [key, next],
    [next, key],
  ])
    for (const cursor of [old, fresh]) expect((await read(cursor, keys)).data).toEqual(['b']);
  await expect(read(old, [next])).rejects.toThrow('not a cursor of this list');
  expect((await read(fresh, [next])).data).toEqual(['b']);
});

test('a cursor preserves a place of several fields', async () => {
  const rows = [3.5, 2.25, 1].map((created_at) => ({ created_at, id: 'a/b' }));
  let before: unknown;
  const list = listHandler<
    { cursor?: string; limit?: string },
    object,
    null,
    (typeof rows)[0],
    object,
    number
  >({ reads, cursorKeys: [key] }, 'places', {
    scope: () => null,
    rows: async (_db, _scope, page) => {
      before = page.before;
      return rows;
    },
    place: (row) => row,
    show: (page) => page.map((row) => row.created_at),
  });
  const { next_cursor } = await list({ limit: '2' }, {});
  expect(before).toBeNull();
  await list({ limit: '2', cursor: next_cursor! }, {});
  expect(before).toEqual({ created_at: 2.25, id: 'a/b' });
});

test('a cursor is valid only for its list, caller and filters', async () => {
  const rows = ['b', 'a'];
  const cursor = (await listOf(rows)({ limit: '1' }, payer)).next_cursor!;
  const [place, mac] = cursor.split('.') as [string, string];
  const next = listOf(rows);
  const forged: [typeof next, object, typeof payer][] = [
    [listOf(rows, { keys: [Buffer.alloc(32, 2)] }), { cursor }, payer],
    [listOf(rows, { name: 'quotes' }), { cursor }, payer],
    [next, { cursor }, { account_id: 'acct_2' }],
    [next, { cursor, status: 'issued' }, payer],
    [next, { cursor: `${Buffer.from('"a"').toString('base64url')}.${mac}` }, payer],
    [next, { cursor: place }, payer],
    [next, { cursor: '' }, payer],
    [next, { cursor: `${cursor}.x` }, payer],
    // Other encodings of the same bytes.
    [next, { cursor: `${cursor}=` }, payer],
    [next, { cursor: `${place}=.${mac}` }, payer],
    [next, { cursor: `${cursor} ` }, payer],
  ];
  for (const [list, query, caller] of forged) {
    const refused = list({ ...query, limit: '1' }, caller);
    await expect(refused).rejects.toThrow(ServiceError);
    await expect(refused).rejects.toMatchObject({
      code: 'validation_error',
      extras: {
        details: [{ path: 'cursor', message: 'not a cursor of this list; pass its next_cursor unchanged' }],
      },
    });
  }
  expect((await next({ cursor, limit: '1' }, payer)).data).toEqual(['a']);
});
