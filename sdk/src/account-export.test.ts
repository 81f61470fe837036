import { expect, test } from '@jest/globals';
import { contractList } from '../../shared/contract/index.ts';
import { LISTS } from './account-export.ts';

test('the export reads every list that an owner can read', () => {
  const lists = contractList.flatMap(({ name, operations }) =>
    Object.entries(operations)
      .filter(
        ([, { access, output }]) =>
          access.includes('jwt') && 'next_cursor' in ((output as { shape?: object }).shape ?? {}),
      )
      .map(([operation]) => `${name}.${operation}`),
  );
  expect(lists.length).toBeGreaterThan(10);
  expect(new Set(Object.keys(LISTS))).toEqual(new Set(lists));
});
