import { expect, test } from '@jest/globals';
import { newId } from '../shared/lib/id.ts';
import { countedLines, withoutIds } from './support/rules/counted-lines.ts';

test('equal lines are one line with its count, in the order of the first', () => {
  expect(countedLines([])).toEqual([]);
  expect(countedLines(['a', 'b', 'a', 'a'])).toEqual(['a (3 times)', 'b']);
});

test('refusals that differ only in the ids of their requests are equal', () => {
  const refusal = () =>
    withoutIds(`POST /v1/settlements/${newId('stl')}/redeem: 503 {"request_id":"${crypto.randomUUID()}"}`);
  expect(countedLines([refusal(), refusal()])).toEqual([
    'POST /v1/settlements/stl_…/redeem: 503 {"request_id":"…"} (2 times)',
  ]);
});
