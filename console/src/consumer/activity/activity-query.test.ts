import { expect, test } from '@jest/globals';
import { type Filters, NAMES, queryOf } from './activity-query.ts';

const none = Object.fromEntries(NAMES.map((name) => [name, ''])) as Filters;
const SERVICE = '6b0f7c52-0d0f-4a5e-9f0b-0a1b2c3d4e5f';
const DELEGATE = 'del_01kaj5w0c0e8h9x2m4n6p8q0rs';

test('the values of a URL become a query, and unknown values are ignored', () => {
  expect(queryOf(none)).toEqual({});
  expect(
    queryOf({
      ...none,
      type: 'refund',
      direction: 'in',
      status: 'reversed',
      service: SERVICE,
      delegate: DELEGATE,
    }),
  ).toEqual({
    ...{ type: 'refund', direction: 'in', status: 'reversed' },
    ...{ service_id: SERVICE, delegate_id: DELEGATE },
  });
  expect(
    queryOf({
      ...none,
      type: 'gift',
      direction: 'up',
      status: '*',
      service: "' or 1",
      delegate: 'del_',
      from: 'x',
    }),
  ).toEqual({});
});

test('days are whole days of the reader’s calendar, the last one included', () => {
  const day = (year: number, month: number, date: number) => new Date(year, month, date).toISOString();
  expect(queryOf({ ...none, from: '2026-10-25', to: '2026-10-25' })).toEqual({
    from: day(2026, 9, 25),
    to: day(2026, 9, 26),
  });
  expect(queryOf({ ...none, to: '2026-12-31' })).toEqual({ to: day(2027, 0, 1) });
  for (const odd of ['0001-01-01', '2026-10', '20261025', '2026-10-25T00:00'])
    expect(queryOf({ ...none, from: odd })).toEqual({});
});

test('what is sought is an id, or a transaction if it has the length of one', () => {
  const hash = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQU';
  expect(queryOf({ ...none, find: ` ${hash} ` })).toEqual({ tx_hash: hash });
  expect(queryOf({ ...none, find: 'stl_01kaj5w0c0e8h9x2m4n6p8q0rs' })).toEqual({
    object_id: 'stl_01kaj5w0c0e8h9x2m4n6p8q0rs',
  });
  expect(queryOf({ ...none, find: 'a b' })).toEqual({});
});
