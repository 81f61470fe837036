import { expect, test } from '@jest/globals';
import { payingFetch } from '../main.ts';

// Not typed, because it is a program for every version of Node.
const program = '../../../../test/support/actors/same-as-fetch.mjs';

test('a request that costs nothing has the same outcome as by plain fetch', async () => {
  const { differences } = await import(program);
  const { compared, found } = await differences(payingFetch);
  expect(found).toEqual([]);
  expect(compared).toBeGreaterThan(80);
});
