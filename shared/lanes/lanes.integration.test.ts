import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { waitUntil } from '../../test/support/base/wait.ts';
import { createTestDatabase } from '../../test/support/servers/database.ts';
import type { TestDatabase } from '../../test/support/servers/database-handle.ts';
import { connectPool, type Pool } from '../db/pool.ts';
import { LANES, whileOwned } from '../lib/lane.ts';
import { createLogger } from '../lib/telemetry/logger.ts';
import { startLanes } from './lanes.ts';
import { renewReplica, takeLanes } from './store.ts';

const ALL = Array.from({ length: LANES }, (_, lane) => lane);
const logger = createLogger('settlement', 'silent');
let database: TestDatabase;
let admin: pg.Pool;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  admin = new pg.Pool({
    connectionString: database.adminUrl,
    options: '-c search_path=settlement,public',
    max: 2,
  });
  pool = await connectPool(database.url('settlement'), { max: 8 });
});
afterEach(async () => {
  await admin.query('update lanes set replica_id = null');
  await admin.query('delete from replicas');
});
afterAll(async () => {
  await pool?.end();
  await admin?.end();
  await database?.drop();
});

const replica = (replicaId: string) => {
  const lanes = startLanes({ pool, logger, bus: { replicaId } });
  let owned: readonly number[] = [];
  lanes.onChange((now) => {
    owned = [...now];
  });
  return { ...lanes, owned: () => owned };
};
const until = (good: () => boolean | Promise<boolean>) =>
  waitUntil(async () => good(), { withinMs: 20_000, everyMs: 20 });

const exists = async (replicaId: string) =>
  (await admin.query('select from replicas where replica_id = $1', [replicaId])).rowCount === 1;

test('one replica owns all lanes and another stands by, until the first one stops', async () => {
  const first = replica('a');
  await until(() => first.owned().length === LANES);
  const second = replica('b');
  await until(() => exists('b'));
  expect(second.owned()).toEqual([]);
  await first.stop();
  expect(await exists('a')).toBe(false);
  await until(() => second.owned().length === LANES);
  await second.stop();
});

test('the lanes of an owner that died are taken when its lease ends, and a late owner learns it', async () => {
  const paused = replica('a');
  await until(() => paused.owned().length === LANES);
  // Its lease ends as that of a paused process. It goes on and believes that it owns the lanes.
  await admin.query(`update replicas set expires_at = public.app_now() - interval '1 second'`);
  const state = await renewReplica(pool, { replica_id: 'b', load: 0 }, 1000);
  const free = state.lanes.filter(({ replica_id }) => replica_id === 'a');
  expect(await takeLanes(pool, 'b', free)).toHaveLength(LANES);
  expect(paused.owned()).toEqual(ALL);
  await until(() => paused.owned().length === 0);
  await paused.stop();
});

test('of replicas that take the same lanes at once, each lane gets one', async () => {
  const free = ALL.map((lane) => ({ lane, replica_id: null }));
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const taken = await Promise.all(
    names.map((name, index) => takeLanes(pool, name, index % 2 === 0 ? free : free.toReversed())),
  );
  expect(taken.flat().toSorted((a, b) => a - b)).toEqual(ALL);
  const { rows } = await admin.query<{ lane: number; replica_id: string }>('select * from lanes');
  for (const { lane, replica_id } of rows) expect(taken[names.indexOf(replica_id)]).toContain(lane);
});

test('an owner that does not reach the database keeps what it believes, and renews later', async () => {
  const owner = replica('a');
  await until(() => owner.owned().length === LANES);
  const blocking = await admin.connect();
  await blocking.query('begin; lock table replicas in access exclusive mode');
  await until(
    async () =>
      (await blocking.query(`select from pg_locks where not granted and mode = 'RowExclusiveLock'`))
        .rowCount! > 0,
  );
  expect(owner.owned()).toEqual(ALL);
  await blocking.query('rollback');
  blocking.release();
  await owner.stop();
});

test('something runs for each owned lane, and ends with its ownership', async () => {
  const running = new Set<number>();
  let change: (owned: ReadonlySet<number>) => void = () => {};
  const onChange = (listener: typeof change) => {
    change = listener;
  };
  const each = whileOwned({ onChange }, (lane) => {
    running.add(lane);
    return { stop: async () => void running.delete(lane) };
  });
  change(new Set([1, 2]));
  change(new Set([2, 3]));
  expect([...running]).toEqual([2, 3]);
  await each.stop();
  expect([...running]).toEqual([]);
  // A renewal that ends later starts nothing again.
  change(new Set([4]));
  expect([...running]).toEqual([]);
});
