import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectPool, type Pool, sql } from '../../../shared/db/pool.ts';
import { newId } from '../../../shared/lib/id.ts';
import { createTestDatabase } from '../../../test/support/servers/database.ts';
import type { TestDatabase } from '../../../test/support/servers/database-handle.ts';
import { insertEndpoint } from '../endpoints/store.ts';
import { insertEvents } from '../events/store.ts';
import { claimDue, PERMITS_PER_ENDPOINT } from './store.ts';

/**
 * Tests the distribution of a replica's permits when they do not suffice for all due deliveries.
 */
let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = await connectPool(database.url('webhook'), { max: 2 });
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

const endpointOf = async (account_id: string): Promise<string> => {
  const endpoint_id = newId('whe');
  const row = { endpoint_id, account_id, url: 'https://1.1.1.1/', description: null, event_types: ['*'] };
  await pool.transaction((tx) => insertEndpoint(tx, { ...row, secret: 'sealed' }, 10));
  return endpoint_id;
};
const publishFor = (account_id: string, times: number) =>
  insertEvents(
    pool,
    Array.from({ length: times }, () => {
      const object_id = newId('del');
      return {
        ...{ type: 'delegate.updated' as const, object_id, data: {}, event_key: object_id },
        parties: [{ account_id, own: {} }] as const,
      };
    }),
  );

test('the next permit goes to an account without permits, not to one with slow endpoints and a backlog', async () => {
  const [busy, other] = [newId('acct'), newId('acct')];
  const slow = await Promise.all(Array.from({ length: 10 }, () => endpointOf(busy)));
  await publishFor(busy, 5);
  const first = await claimDue(pool, {}, 30);
  expect(first).toHaveLength(30);
  const modest = await endpointOf(other);
  await publishFor(other, 1);
  const inUse = Object.fromEntries(
    slow.map((id) => [id, first.filter(({ endpoint_id }) => endpoint_id === id).length]),
  );
  expect((await claimDue(pool, inUse, 1)).map(({ endpoint_id }) => endpoint_id)).toEqual([modest]);
});

test('permits of one claim are distributed evenly over the accounts', async () => {
  await pool.query(sql.typeAlias('void')`delete from endpoints`);
  const accounts = [newId('acct'), newId('acct'), newId('acct')];
  const owners = new Map<string, string>();
  for (const [index, account] of accounts.entries()) {
    for (let left = 3 - index; left > 0; left -= 1) owners.set(await endpointOf(account), account);
    await publishFor(account, PERMITS_PER_ENDPOINT);
  }

  const claimed = await claimDue(pool, {}, 6);
  const turns = accounts.map(
    (account) => claimed.filter(({ endpoint_id }) => owners.get(endpoint_id) === account).length,
  );
  expect(turns).toEqual([2, 2, 2]);
});
