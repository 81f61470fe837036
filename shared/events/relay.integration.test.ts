import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { StreamAPI } from 'nats';
import pg from 'pg';
import { waitUntil } from '../../test/support/base/wait.ts';
import { createTestBus, type TestBus } from '../../test/support/servers/bus.ts';
import { createTestDatabase } from '../../test/support/servers/database.ts';
import type { TestDatabase } from '../../test/support/servers/database-handle.ts';
import { startProxy, type TcpProxy } from '../../test/support/servers/proxy.ts';
import { type Bus, connectBus } from '../bus/connect.ts';
import { decode } from '../bus/envelope.ts';
import { createDbClock } from '../db/clock.ts';
import { connectPool } from '../db/pool.ts';
import { failpoints } from '../lib/failpoint.ts';
import { createLogger } from '../lib/telemetry/logger.ts';
import { insertOutbox } from './outbox.ts';
import { startRelay } from './relay.ts';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
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

/** Rows that the fast path did not publish, as after a crash that follows the commit. */
const leave = async (subjects: readonly string[]) => {
  for (const [i, subject] of subjects.entries()) {
    await admin.query(
      'insert into outbox (subject, msg_id, payload, next_at) values ($1, $2, $3, public.app_now())',
      [subject, `left-${performance.now()}-${i}`, {}],
    );
  }
};
const left = async () =>
  (await admin.query<{ subject: string }>('select subject from outbox order by outbox_id')).rows;

const relay = async (by?: Bus) => {
  const pool = await connectPool(database.url('settlement'), { max: 4 });
  const bus = by ?? (await testBus.as('settlement'));
  const running = startRelay(pool, bus, await createDbClock(pool), logger);
  return {
    pool,
    dispatch: running.dispatch,
    stop: async () => {
      await running.stop();
      await pool.end();
    },
  };
};
const until = (good: () => Promise<boolean>, withinMs = 10_000) => waitUntil(good, { withinMs, everyMs: 20 });
const withStreams = async <T>(read: (streams: StreamAPI) => Promise<T>): Promise<T> => {
  const bus = await connectBus({
    url: testBus.url,
    user: 'settlement',
    seed: testBus.seedOf('admin'),
    logger,
  });
  const answer = await read((await bus.nc.jetstreamManager()).streams);
  await bus.nc.close();
  return answer;
};
const heard = (subject: string) =>
  withStreams(async (streams) => {
    const info = await streams.info('EVENTS', { subjects_filter: subject });
    return info.state.subjects?.[subject] ?? 0;
  });
const newest = (stream: string, subject: string) =>
  withStreams(async (streams) => decode((await streams.getMessage(stream, { last_by_subj: subject })).data));

test('two sweeps publish rows that remain after a crash once, without an open transaction', async () => {
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

test('a row that can never be published does not block later rows', async () => {
  // No stream has this subject, and the service has no right to publish it.
  await leave(['nowhere.at.all', 'evt.settlement.failed', 'evt.settlement.failed']);
  const { stop } = await relay();
  await until(async () => (await left()).length === 1, 15_000);
  await stop();
  expect(await left()).toEqual([{ subject: 'nowhere.at.all' }]);
  await admin.query('delete from outbox');
});

test('a batch is published when its window ends, or when the service stops before', async () => {
  const subject = 'evt.settlement.expired';
  const { pool, dispatch, stop } = await relay();
  const rows = await insertOutbox(
    pool,
    ['one', 'two'].map((msgId) => ({ subject, msgId, payload: {} })),
  );
  for (const row of rows) dispatch([row], { batchWindowMs: 60_000 });
  expect(await heard(subject)).toBe(0);
  await stop();
  expect({ heard: await heard(subject), left: await left() }).toEqual({ heard: 1, left: [] });
});

test('events of one subject that are committed in a turn share a message, and a job has its own', async () => {
  const events = ['evt.settlement.declined', 'evt.settlement.approvalRequested'];
  const job = 'job.chain-submitter.settle';
  const { pool, dispatch, stop } = await relay();
  const rows = await insertOutbox(
    pool,
    [...events, ...events, job, job].map((subject, n) => ({
      subject,
      msgId: `shared-${n}`,
      payload: { n },
      traceparent: n === 0 ? TRACEPARENT : null,
    })),
  );
  for (const row of rows) dispatch([row]);
  await stop();
  expect(await left()).toEqual([]);
  expect(await Promise.all(events.map((subject) => newest('EVENTS', subject)))).toEqual([
    [{ payload: { n: 0 }, traceparent: TRACEPARENT }, { payload: { n: 2 } }],
    [{ payload: { n: 1 } }, { payload: { n: 3 } }],
  ]);
  expect(await newest('JOBS', job)).toEqual({ n: 5 });
});

/** Well before the end of a lease that a sweep holds. */
const BEFORE_THE_LEASE_ENDS_MS = 12_000;

/**
 * Two replicas. The connection of the first breaks, and the second publishes all remaining rows.
 */
const oneOfTwo = async (breakWay: (proxy: TcpProxy, bus: Bus) => Promise<void>) => {
  const subject = 'evt.settlement.redeemed';
  const before = await heard(subject);
  const proxy = await startProxy(testBus.port);
  const bus = await testBus.as('settlement', proxy.port);
  await leave(Array<string>(5).fill(subject));
  await breakWay(proxy, bus);
  // It sweeps as soon as it has started, before the second is connected.
  const [{ stop: stopFirst }, { stop }] = [await relay(bus), await relay()];
  await until(async () => (await left()).length === 0, BEFORE_THE_LEASE_ENDS_MS);
  await Promise.all([stopFirst(), stop()]);
  proxy.stop();
  await bus.nc.close();
  expect((await heard(subject)) - before).toBe(5);
};

test('a replica that lost its connection leases nothing', () =>
  oneOfTwo(async (proxy, bus) => {
    proxy.stop();
    await until(async () => !bus.connected);
  }));

test('a replica whose connection is silent leases nothing', () =>
  oneOfTwo(async (proxy) => proxy.freeze(true)));

test('a replica whose connection goes silent between lease and publish releases its leased rows', () =>
  oneOfTwo(async (proxy) => {
    failpoints['outbox.beforePublish'] = async () => proxy.freeze(true);
  }));
