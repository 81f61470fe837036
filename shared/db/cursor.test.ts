import { expect, test } from '@jest/globals';
import { ServiceError } from '../contract/errors.ts';
import { openCursor, pageLimit, pageOf } from './cursor.ts';

const key = Buffer.alloc(32, 1);
const binding = ['settlements', { as: 'payer', account_id: 'acct_1' }, null];
const page = (rows: string[], limit: number) =>
  pageOf(rows, limit, { key, binding, idOf: (row: string) => row, show: (row: string) => row });

test('a page knows whether there is a next one', () => {
  expect(page([], 2)).toEqual({ data: [], next_cursor: null });
  expect(page(['c', 'b'], 2)).toEqual({ data: ['c', 'b'], next_cursor: null });
  const { data, next_cursor } = page(['c', 'b', 'a'], 2);
  expect(data).toEqual(['c', 'b']);
  expect(openCursor(key, binding, next_cursor!)).toBe('b');
  expect(openCursor(key, binding, undefined)).toBeNull();
  expect([pageLimit(undefined), pageLimit('100')]).toEqual([20, 100]);
});

test('a page of large items ends where a message would become too long; each is told once', () => {
  const rows = Array.from({ length: 100 }, (_, n) => `${String(n).padStart(3, '0')}${'ü'.repeat(8000)}`);
  const first = page(rows, 100);
  expect(Buffer.byteLength(JSON.stringify(first))).toBeLessThan(600_000);
  expect(openCursor(key, binding, first.next_cursor!)).toBe(first.data.at(-1));
  const seen: string[] = [];
  while (seen.length < rows.length) seen.push(...page(rows.slice(seen.length), 100).data);
  expect(seen).toEqual(rows);
  // One that is too large by itself is told alone.
  expect(page(['x'.repeat(600_000), 'y'], 2).data).toHaveLength(1);
});

test('a cursor counts for its list, caller and filters alone', () => {
  const cursor = page(['b', 'a'], 1).next_cursor!;
  const [id, mac] = cursor.split('.') as [string, string];
  const forged: [Buffer, unknown[], string][] = [
    [Buffer.alloc(32, 2), binding, cursor],
    [key, ['quotes', ...binding.slice(1)], cursor],
    [key, ['settlements', { as: 'payer', account_id: 'acct_2' }, null], cursor],
    [key, [...binding.slice(0, 2), 'issued'], cursor],
    [key, binding, `${Buffer.from('a').toString('base64url')}.${mac}`],
    [key, binding, id],
    [key, binding, ''],
    [key, binding, `${cursor}.x`],
    // Other spellings of the same bytes.
    [key, binding, `${cursor}=`],
    [key, binding, `${id}=.${mac}`],
    [key, binding, `${cursor} `],
  ];
  for (const [withKey, bound, text] of forged)
    expect(() => openCursor(withKey, bound, text)).toThrow(ServiceError);
});
