import { expect, test } from '@jest/globals';
import { summaryOf } from './spans.ts';

test.each([
  ['select 1', 'SELECT'],
  ['select quote_id from quotes where quote_id = $1', 'SELECT quotes'],
  ['with due as (select 1 from outbox for update skip locked) update outbox set x = 1', 'UPDATE outbox'],
  [
    'with a as (insert into attempts (x) values ($1)) update wallet_holds set y = 1',
    'INSERT attempts UPDATE wallet_holds',
  ],
  ['insert into t (a) values ($1) on conflict do update set a = 1', 'INSERT t'],
  ['delete from outbox where outbox_id = any($1)', 'DELETE outbox'],
])('the summary of %j is "%s"', (text, summary) => {
  expect(summaryOf(text)).toBe(summary);
});
