import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { waitUntil } from '../../test/support/base/wait.ts';
import { createTestBus, type TestBus } from '../../test/support/servers/bus.ts';
import { createTestDatabase } from '../../test/support/servers/database.ts';
import type { TestDatabase } from '../../test/support/servers/database-handle.ts';
import { type Bus, connectBus } from '../bus/connect.ts';
import { encode } from '../bus/envelope.ts';
import type { Progress } from '../contract/chain-submitter.ts';
import { chainSubmitter } from '../contract/index.ts';
import { subjects } from '../contract/service.ts';
import { createDbClock } from '../db/clock.ts';
import { connectPool, type Pool } from '../db/pool.ts';
import { newId } from '../lib/id.ts';
import { createLogger } from '../lib/telemetry/logger.ts';
import { acceptHandedOver } from './consume.ts';
import { event } from './event.ts';
import { eventList } from './event-list.ts';
import { createHandOver } from './hand-over.ts';
import { insertOutbox, type OutboxRow } from './outbox.ts';
import { startRelay } from './relay.ts';

const logger = createLogger('chain-submitter', 'silent');
let database: TestDatabase;
let testBus: TestBus;
let admin: pg.Pool;
let pool: Pool;
let sender: Bus;

beforeAll(async () => {
  [database, testBus] = await Promise.all([createTestDatabase(), createTestBus()]);
  admin = new pg.Pool({
    connectionString: database.adminUrl,
    options: '-c search_path=chain_submitter,public',
    max: 2,
  });
  pool = await connectPool(database.url('chain-submitter'), { max: 4 });
  sender = await testBus.as('chain-submitter');
});
afterEach(async () => void (await admin.query('delete from outbox')));
afterAll(async () => {
  await pool?.end();
  await admin?.end();
  await testBus?.stop();
  await database?.drop();
});

const receiverOf = (receiver: string) =>
  ({ service: 'settlement', name: 'settleProgressed', receiver }) as const;

const progress = (): Progress => ({
  object_id: newId('stl'),
  status: 'failed',
  generation: 0,
  tx_hash: null,
  slot: null,
  failure: null,
});

/** Commits outcomes, each for one of the receivers. */
const commit = async (payloads: readonly Progress[], receivers: readonly string[]): Promise<OutboxRow[]> => {
  const messages = payloads.map((payload) => event('chain-submitter.settleProgressed', payload));
  const rows = await insertOutbox(pool, messages);
  return rows.map((row, index) => ({
    ...row,
    parts: [{ receiver: receiverOf(receivers[index % receivers.length]!), entries: eventList([row]) }],
  }));
};

const take = async (receiver: string, handle: (payload: Progress) => Promise<void>) => {
  const bus = await testBus.as('settlement');
  const source = { schema: chainSubmitter.events.settleProgressed, handle };
  const taking = acceptHandedOver(bus, receiverOf(receiver), 'chain-submitter', source);
  await bus.nc.flush();
  return taking;
};

const until = (good: () => Promise<boolean>) => waitUntil(good, { withinMs: 20_000, everyMs: 20 });
const left = async () =>
  (
    await admin.query<{ next_in: number }>(
      'select extract(epoch from next_at - public.app_now())::float8 as next_in from outbox',
    )
  ).rows;
const stored = async (): Promise<number> => {
  const bus = await connectBus({
    url: testBus.url,
    user: 'settlement',
    seed: testBus.seedOf('admin'),
    logger,
  });
  const { state } = await (await bus.nc.jetstreamManager()).streams.info('EVENTS');
  await bus.nc.close();
  return state.messages;
};

test('outcomes go to the replicas that wait for them, and no stream stores them', async () => {
  const [ofA, ofB]: [Progress[], Progress[]] = [[], []];
  const takings = [
    await take('a', async (payload) => void ofA.push(payload)),
    await take('b', async (payload) => void ofB.push(payload)),
  ];
  const relay = startRelay(pool, sender, await createDbClock(pool), logger);
  const before = await stored();
  const payloads = Array.from({ length: 120 }, progress);
  relay.dispatch(await commit(payloads, ['a', 'b']));
  await until(async () => (await left()).length === 0);
  expect(ofA).toEqual(payloads.filter((_, index) => index % 2 === 0));
  expect(ofB).toEqual(payloads.filter((_, index) => index % 2 === 1));
  expect(await stored()).toBe(before);
  await relay.stop();
  for (const taking of takings) await taking.stop();
});

test('what nobody takes over, or a receiver fails to handle, is published to the stream', async () => {
  const taking = await take('c', async () => {
    throw new Error('not now');
  });
  const relay = startRelay(pool, sender, await createDbClock(pool), logger);
  const before = await stored();
  relay.dispatch(await commit([progress(), progress()], ['c', 'gone']));
  await until(async () => (await left()).length === 0);
  expect(await stored()).toBe(before + 2);
  await relay.stop();
  await taking.stop();
});

test('what a receiver that ended has not answered goes to the stream with the next message', async () => {
  const bus = await testBus.as('settlement');
  let isGiven = false;
  const source = {
    schema: chainSubmitter.events.settleProgressed,
    handle: async () => {
      isGiven = true;
      await new Promise(() => {});
    },
  };
  acceptHandedOver(bus, receiverOf('g'), 'chain-submitter', source);
  await bus.nc.flush();
  const relay = startRelay(pool, sender, await createDbClock(pool), logger);
  const before = await stored();
  relay.dispatch(await commit([progress()], ['g']));
  await until(async () => isGiven);
  await bus.nc.close();
  relay.dispatch(await commit([progress()], ['g']));
  await until(async () => (await left()).length === 0);
  expect(await stored()).toBe(before + 2);
  await relay.stop();
});

test('a receiver that was silent is not asked for a while, and then again', async () => {
  const taken: Progress[] = [];
  let goOn = () => {};
  let paused: Promise<void> | null = new Promise((resolve) => {
    goOn = resolve;
  });
  const taking = await take('h', async (payload) => {
    taken.push(payload);
    await paused;
  });
  const handOver = createHandOver(sender, { answeredWithinMs: 200 });
  const isAccepted = async (payload: Progress): Promise<boolean> => {
    const [handed] = handOver(await commit([payload], ['h']));
    return handed!.accepted;
  };
  const [silent, avoided, again] = [progress(), progress(), progress()];
  expect(await isAccepted(silent)).toBe(false);
  paused = null;
  goOn();
  expect(await isAccepted(avoided)).toBe(false);
  expect(taken).toEqual([silent]);
  await until(() => isAccepted(again));
  expect(taken).toContainEqual(again);
  expect(taken).not.toContainEqual(avoided);
  await taking.stop();
});

test('what the server delivers there for another service is refused', async () => {
  const received: Progress[] = [];
  const taking = await take('f', async (payload) => void received.push(payload));
  const server = await testBus.as('admin');
  const subject = subjects.handedOver('settlement', 'settleProgressed', 'f');
  // As a consumer of a stream delivers, and as an answer of the server.
  for (const reply of ['$JS.ACK.EVENTS.wallet_on_settlement_issued.1.1.1.1.0', undefined])
    server.nc.publish(subject, encode(progress()), reply === undefined ? {} : { reply });
  await server.nc.flush();
  const relay = startRelay(pool, sender, await createDbClock(pool), logger);
  const outcome = progress();
  relay.dispatch(await commit([outcome], ['f']));
  await until(async () => received.length > 0 && (await left()).length === 0);
  expect(received).toEqual([outcome]);
  await relay.stop();
  await taking.stop();
});

test('a row with two receivers is published whole if one of them is gone', async () => {
  const taken: Progress[] = [];
  const taking = await take('d', async (payload) => void taken.push(payload));
  const relay = startRelay(pool, sender, await createDbClock(pool), logger);
  const before = await stored();
  const [first, second] = (await commit([progress(), progress()], ['d', 'gone'])) as [OutboxRow, OutboxRow];
  relay.dispatch([{ ...first, parts: [...first.parts!, ...second.parts!] }]);
  await until(async () => (await left()).length === 1);
  expect(taken).toHaveLength(1);
  expect(await stored()).toBe(before + 1);
  await relay.stop();
  await taking.stop();
});

test('the sweep leaves a row to its slow receiver, and a stopping process publishes it', async () => {
  let release = () => {};
  const waiting = new Promise<void>((resolve) => {
    release = resolve;
  });
  const taking = await take('e', () => waiting);
  const relay = startRelay(pool, sender, await createDbClock(pool), logger);
  const before = await stored();
  relay.dispatch(await commit([progress()], ['e']));
  // Inserted with two seconds, and leased again before they are over.
  await until(async () => (await left()).some(({ next_in }) => next_in > 2.5));
  expect(await stored()).toBe(before);
  await relay.stop();
  expect(await stored()).toBe(before + 1);
  expect(await left()).toEqual([]);
  release();
  await taking.stop();
});
