import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestBus, type TestBus } from '../../test/support/bus.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { connectBus } from '../bus/connect.ts';
import type { BusUser } from '../contract/service.ts';
import { failpoints } from '../lib/failpoint.ts';
import { createLogger } from '../lib/logger.ts';
import { insertOutbox, startRelay } from './outbox.ts';
import { connectPool } from './pool.ts';

const logger = createLogger('settlement', 'silent');
let database: TestDatabase;
let testBus: TestBus;
let admin: pg.Pool;

beforeAll(async () => {
  [database, testBus] = await Promise.all([createTestDatabase(), createTestBus()]);
  admin = new pg.Pool({
    connectionString: database.adminUrl,
    options: '-c search_path=settlement,public',
    max: 2,
  });
});
afterEach(() => {
  failpoints['outbox.beforePublish'] = async () => {};
});
afterAll(async () => {
  await admin?.end();
  await testBus?.stop();
  await database?.drop();
});

/** Rows whose fast path never ran, as a crash after the commit leaves them. */
const leave = async (subjects: readonly string[]) => {
  for (const [i, subject] of subjects.entries()) {
    await admin.query('insert into outbox (subject, msg_id, payload, next_at) values ($1, $2, $3, now())', [
      subject,
      `left-${performance.now()}-${i}`,
      {},
    ]);
  }
};
const left = async () =>
  (await admin.query<{ subject: string }>('select subject from outbox order by outbox_id')).rows;

const relay = async () => {
  const pool = await connectPool(database.url('settlement'), { max: 4 });
  const bus = await testBus.as('settlement');
  const running = startRelay(pool, bus, logger);
  return {
    pool,
    dispatch: running.dispatch,
    stop: async () => {
      await running.stop();
      await pool.end();
    },
  };
};
const until = async (good: () => Promise<boolean>, ms = 10_000) => {
  for (const end = Date.now() + ms; Date.now() < end; await sleep(20)) if (await good()) return;
  throw new Error('did not come about');
};
const heard = async (subject: string) => {
  const bus = await connectBus({
    url: testBus.url,
    user: 'settlement',
    natsUser: testBus.userOf('admin' as BusUser),
    password: testBus.password,
    logger,
  });
  const info = await (await bus.nc.jetstreamManager()).streams.info('EVENTS', { subjects_filter: subject });
  await bus.nc.close();
  return info.state.subjects?.[subject] ?? 0;
};

test('what a crash left is published once by two sweeps, with no transaction open meanwhile', async () => {
  const subject = 'evt.settlement.issued';
  await leave(Array<string>(30).fill(subject));
  let published = 0;
  let open = 0;
  failpoints['outbox.beforePublish'] = async () => {
    published += 1;
    const { rows } = await admin.query<{ n: number }>(
      "select count(*)::int as n from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'",
    );
    open += rows[0]!.n;
  };
  const relays = await Promise.all([relay(), relay()]);
  await until(async () => (await left()).length === 0);
  await Promise.all(relays.map(({ stop }) => stop()));
  expect({ published, open, heard: await heard(subject) }).toEqual({ published: 30, open: 0, heard: 30 });
});

test('a row that can never be published holds up nothing behind it', async () => {
  // No stream takes this subject, and the service has no right to it either.
  await leave(['nowhere.at.all', 'evt.settlement.failed', 'evt.settlement.failed']);
  const { stop } = await relay();
  await until(async () => (await left()).length === 1, 15_000);
  await stop();
  expect(await left()).toEqual([{ subject: 'nowhere.at.all' }]);
  await admin.query('delete from outbox');
});

test('what lingers goes out together, at the latest when the service stops', async () => {
  const subject = 'evt.settlement.expired';
  const { pool, dispatch, stop } = await relay();
  const rows = await insertOutbox(
    pool,
    ['one', 'two'].map((msgId) => ({ subject, msgId, payload: {} })),
  );
  for (const row of rows) dispatch([row], { lingerMs: 60_000 });
  expect(await heard(subject)).toBe(0);
  await stop();
  expect({ heard: await heard(subject), left: await left() }).toEqual({ heard: 2, left: [] });
});
