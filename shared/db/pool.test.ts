import { expect, test } from '@jest/globals';
import type { Logger } from '../lib/logger.ts';
import { type Pool, waitForPool } from './pool.ts';

/** A pool whose queries fail with these errors, in this order, and then succeed. */
const poolFailing = (...errors: Error[]) => {
  let queries = 0;
  const query = async () => {
    queries += 1;
    const error = errors.shift();
    if (error !== undefined) throw error;
  };
  return { pool: { query } as unknown as Pool, count: () => queries };
};
const warnings: string[] = [];
const logger = { warn: (_fields: object, message: string) => warnings.push(message) } as unknown as Logger;

test('a start waits while Postgres refuses connections or does not answer in time', async () => {
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const { pool, count } = poolFailing(refused, new Error('timeout expired'));
  await waitForPool(pool, logger);
  expect(count()).toBe(3);
  expect(warnings).toHaveLength(2);
});

test('a start fails at once with an error that waiting does not mend', async () => {
  const wrong = Object.assign(new Error('password authentication failed'), { code: '28P01' });
  const { pool, count } = poolFailing(wrong);
  await expect(waitForPool(pool, logger)).rejects.toBe(wrong);
  expect(count()).toBe(1);
});
