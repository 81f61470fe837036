import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase } from '../../test/support/servers/database.ts';
import type { TestDatabase } from '../../test/support/servers/database-handle.ts';
import { connectPool, type Pool } from '../db/pool.ts';
import { listActions, recordAction, verifyActions } from './actions.ts';

/** The record of operators' actions, as the role of identity writes it. */
let database: TestDatabase;
let pool: Pool;
let admin: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = await connectPool(database.url('identity'), { max: 4 });
  admin = new pg.Client({ connectionString: database.adminUrl });
  await admin.connect();
  await admin.query('set search_path = identity, public');
});
afterAll(async () => {
  await pool.end();
  await admin.end();
  await database.drop();
});

const record = (target: string) =>
  pool.transaction((tx) =>
    recordAction(
      tx,
      { actor: 'jane', reason: 'ticket 1042: “chargebacks”' },
      {
        action: 'account.freeze',
        target,
        before: { frozen: false },
        after: { frozen: true, b: 1, aa: null },
      },
    ),
  );

/** Changes the record as the owner of the database can, and undoes it after the check. */
const verifiedAfter = async (statement: string, known: Parameters<typeof verifyActions>[1] = null) => {
  await admin.query('create table kept as table operator_actions');
  await admin.query(statement);
  try {
    return await verifyActions(pool, known);
  } finally {
    await admin.query(`set session_replication_role = replica; truncate operator_actions;
      insert into operator_actions table kept; drop table kept; reset session_replication_role`);
  }
};

test('an empty record is intact, and lacks every known action', async () => {
  const empty = { actions: 0, head: null, broken_at: null };
  expect(await verifyActions(pool, null)).toEqual({ ...empty, known_found: null });
  const known = { action_id: 1, hash: 'a'.repeat(64) };
  expect(await verifyActions(pool, known)).toEqual({ ...empty, known_found: false });
});

test('actions of parallel transactions are one chain', async () => {
  await Promise.all(Array.from({ length: 8 }, (_, index) => record(`acct_${index}`)));
  const chain = await verifyActions(pool, null);
  expect(chain).toEqual({
    actions: 8,
    head: { action_id: 8, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    broken_at: null,
    known_found: null,
  });
  expect((await listActions(pool, { limit: 10 })).map(({ action_id }) => action_id)).toEqual([
    8, 7, 6, 5, 4, 3, 2, 1,
  ]);
  await record('acct_8');
  expect(await verifyActions(pool, chain.head)).toMatchObject({
    actions: 9,
    broken_at: null,
    known_found: true,
  });
});

test('the hash does not depend on the time zone of the session', async () => {
  const { rows } = await admin
    .query(`set time zone 'Asia/Kolkata';
    select bool_and(hash = operator_action_hash(one)) as same from operator_actions as one; reset time zone`)
    .then((results) => (results as unknown as { rows: { same: boolean }[] }[])[1]!);
  expect(rows).toEqual([{ same: true }]);
});

test.each([
  ['actor', "update operator_actions set actor = 'nobody' where action_id = 3", 3],
  ['reason', "update operator_actions set reason = reason || ' ' where action_id = 1", 1],
  ['time', "update operator_actions set at = at + interval '1 microsecond' where action_id = 9", 9],
  ['state before', `update operator_actions set before = '{"frozen": true}' where action_id = 5`, 5],
  [
    'content with a new hash of its own',
    `update operator_actions set actor = 'nobody' where action_id = 4;
     update operator_actions as one set hash = operator_action_hash(one) where action_id = 4`,
    5,
  ],
  ['removal', 'delete from operator_actions where action_id = 6', 7],
  ['removal of the first', 'delete from operator_actions where action_id = 1', 2],
  [
    'order',
    'update operator_actions set action_id = -1 where action_id = 2; update operator_actions set action_id = 10 where action_id = -1',
    3,
  ],
] as const)('a change of an action is found: %s', async (_what, statement, broken_at) => {
  expect(await verifiedAfter(statement)).toMatchObject({ broken_at });
});

test('actions that are removed from the end are found by an earlier check', async () => {
  const { head } = await verifyActions(pool, null);
  const removed = 'delete from operator_actions where action_id > 7';
  expect(await verifiedAfter(removed)).toMatchObject({ actions: 7, broken_at: null, known_found: null });
  expect(await verifiedAfter(removed, head)).toMatchObject({ broken_at: null, known_found: false });
  // A new chain, which is intact in itself.
  const rewritten = `create table actions as table operator_actions; truncate operator_actions;
    insert into operator_actions (actor, action, target, reason, before, after)
      select 'nobody', action, target, reason, before, after from actions order by action_id;
    drop table actions`;
  expect(await verifiedAfter(rewritten, head)).toMatchObject({
    actions: 9,
    broken_at: null,
    known_found: false,
  });
  expect(await verifyActions(pool, head)).toMatchObject({ actions: 9, broken_at: null, known_found: true });
});
