import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { connectPool, type Pool } from '../../../shared/db/pool.ts';
import { createTestDatabase } from '../../../test/support/servers/database.ts';
import type { TestDatabase } from '../../../test/support/servers/database-handle.ts';
import { transition } from './transition.ts';

let database: TestDatabase;
let pool: Pool;
/** The database's owner. */
let admin: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = await connectPool(database.url('chain-submitter'), { max: 2 });
  admin = new pg.Pool({
    connectionString: database.adminUrl,
    options: '-c search_path=chain_submitter,public',
    max: 1,
  });
});
afterAll(async () => {
  await pool.end();
  await admin.end();
  await database.drop();
});

const signedIntent = async (id: string, bytes: 'live' | 'expired') => {
  const intent = { intent_id: id, kind: 'settle', object_id: id, traceparent: null } as const;
  await admin.query(
    `insert into intents (intent_id, kind, object_id, request, status, generation, next_at)
     values ($1, 'settle', $1, '{}', 'signed', 1, app_now())`,
    [id],
  );
  await admin.query(
    `insert into transactions (signature, intent_id, generation, wire, last_valid_block_height, status)
     values ($1, $1, 1, 'x', 1, $2)`,
    [id, bytes],
  );
  return { intent, generation: 1, signature: id, slot: 7 };
};
const relay = { dispatch: () => {} };

test('a payment is confirmed while its bytes live', async () => {
  expect(await transition({ pool, relay }, 'confirm', [await signedIntent('settle:a:live', 'live')])).toBe(1);
});

test('a late confirmation of bytes that are proven dead changes and publishes nothing', async () => {
  const late = await signedIntent('settle:a:dead', 'expired');
  const dispatched: unknown[] = [];
  const recording = { dispatch: (rows: readonly unknown[]) => void dispatched.push(...rows) };
  expect(await transition({ pool, relay: recording }, 'confirm', [late])).toBe(0);
  expect(dispatched).toEqual([]);
});
