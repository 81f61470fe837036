import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { waitUntil } from '../../test/support/base/wait.ts';
import { createTestBus, refusals, type TestBus } from '../../test/support/servers/bus.ts';
import { createTestDatabase } from '../../test/support/servers/database.ts';
import type { TestDatabase } from '../../test/support/servers/database-handle.ts';
import { call } from '../bus/call.ts';
import type { Bus } from '../bus/connect.ts';
import { encode } from '../bus/envelope.ts';
import { type Serving, serve } from '../bus/serve.ts';
import { ensureStreams } from '../bus/setup.ts';
import { replyInbox } from '../bus/topology.ts';
import { settlement } from '../contract/index.ts';
import type { Handlers } from '../contract/service.ts';
import { createDbClock } from '../db/clock.ts';
import { connectPool, type Pool, sql } from '../db/pool.ts';
import { newId, newServiceId } from '../lib/id.ts';
import { createLogger } from '../lib/telemetry/logger.ts';
import { quarantineInto } from '../operator/quarantine.ts';
import { subscribeInBatches } from './batch-consumer.ts';
import { createCatchUp } from './catch-up.ts';
import { event } from './event.ts';
import { insertOutbox } from './outbox.ts';
import { type Relay, startRelay } from './relay.ts';
import { clearOutbox, listSentEvents, purgeSent } from './sent-events.ts';

/** settlement publishes, quote reads: over a real server, with the rights of a deployment. */
const logger = createLogger('quote', 'silent');
let database: TestDatabase;
let testBus: TestBus;
let admin: pg.Pool;
let publisher: { pool: Pool; relay: Relay; serving: Serving };
let readerPool: Pool;
let streams: Awaited<ReturnType<Bus['nc']['jetstreamManager']>>['streams'];

const startServing = (bus: Bus, pool: Pool) => {
  const handlers = { listSentEvents: listSentEvents(pool) };
  return serve(bus, settlement, handlers as unknown as Handlers<typeof settlement>);
};

beforeAll(async () => {
  [database, testBus] = await Promise.all([createTestDatabase(), createTestBus()]);
  admin = new pg.Pool({ connectionString: database.adminUrl, max: 2 });
  const pool = await connectPool(database.url('settlement'), { max: 4 });
  const bus = await testBus.as('settlement');
  publisher = {
    pool,
    relay: startRelay(pool, bus, await createDbClock(pool), logger),
    serving: startServing(bus, pool),
  };
  readerPool = await connectPool(database.url('quote'), { max: 4 });
  streams = (await (await testBus.as('admin')).nc.jetstreamManager()).streams;
});
afterAll(async () => {
  await publisher?.relay.stop();
  await publisher?.serving.stop();
  await publisher?.pool.end();
  await readerPool?.end();
  await admin?.end();
  await testBus?.stop();
  await database?.drop();
});

let handled: string[];
/** Quotes that the reader fails at, as if it could not write them. */
let failing: readonly string[] = [];
let stopReading: () => Promise<void> = async () => {};

const startReading = async () => {
  const bus = await testBus.as('quote');
  const quarantine = quarantineInto(readerPool, logger);
  const items = ({ quote_id }: { quote_id: string | null }) => [quote_id!];
  const write = async (quotes: readonly string[]) => {
    if (quotes.some((id) => failing.includes(id))) throw new Error('not written');
    handled.push(...quotes);
  };
  const reading = subscribeInBatches(bus, settlement, { accepted: items }, write, {
    ...{ quarantine, batchWindowMs: 0 },
  });
  const stopOthers = stopReading;
  stopReading = async () => {
    stopReading = async () => {};
    await Promise.all([reading.stop(), stopOthers()]);
  };
  return createCatchUp({ bus, pool: readerPool, logger, consuming: [reading], quarantine });
};
beforeEach(() => {
  handled = [];
});
afterEach(() => stopReading());

const accepted = (quote_id: string) =>
  event('settlement.accepted', {
    settlement_id: newId('stl'),
    quote_id,
    account_id: newId('acct'),
    delegate_id: null,
    wallet_id: newId('wal'),
    rail: 'quittance',
    payer_address: null,
    service_id: newServiceId(),
    vendor_account_id: newId('acct'),
    quote_amount: '1000000',
    fee_amount: '10000',
  });
/** Publishes an event of each quote, and waits until the outbox has let go of them. */
const publishAll = async (quotes: readonly string[]) => {
  publisher.relay.dispatch(await insertOutbox(publisher.pool, quotes.map(accepted)));
  await waitUntil(async () => (await admin.query('select from settlement.outbox')).rowCount === 0, {
    withinMs: 10_000,
    everyMs: 20,
  });
};
const newIds = (count: number) => Array.from({ length: count }, () => newId('q'));
const isHandled = (quotes: readonly string[]) =>
  waitUntil(async () => quotes.every((id) => handled.includes(id)), { withinMs: 10_000, everyMs: 20 });
/** The service notices twice in a row that it has handled everything, so its position is there. */
const settle = async (job: { run: () => Promise<boolean> }) => {
  await job.run();
  await waitUntil(
    async () => {
      await job.run();
      const { last_seq } = (await streams.info('EVENTS')).state;
      const { rows } = await admin.query<{ seq: string }>('select seq from quote.stream_position');
      return Number(rows[0]!.seq) === last_seq;
    },
    { withinMs: 10_000, everyMs: 50 },
  );
};

/** No publisher can add anything any more to what was missed. */
const endMargin = () =>
  admin.query("update quote.stream_position set read_until = public.app_now() - interval '1 second'");
const readMissed = async (): Promise<Date | null> =>
  (await admin.query<{ missed_since: Date | null }>('select missed_since from quote.stream_position'))
    .rows[0]!.missed_since;

test('what a purged stream had not delivered comes from its publisher, once the loss is seen', async () => {
  const reading = await startReading();
  const before = newIds(3);
  await publishAll(before);
  await isHandled(before);
  await settle(reading);
  await stopReading();

  const missed = newIds(60);
  await publishAll(missed);
  await streams.purge('EVENTS');
  const after = newIds(2);
  await publishAll(after);

  handled = [];
  const again = await startReading();
  await isHandled(after);
  expect(handled.filter((id) => missed.includes(id))).toEqual([]);
  expect(await again.run()).toBe(true);
  expect(missed.filter((id) => !handled.includes(id))).toEqual([]);

  // An event that its publisher kept only after the first reading.
  const late = newId('q');
  await publisher.pool.query(sql.typeAlias('void')`
      insert into sent_events (subject, payloads)
      values ('evt.settlement.accepted', ${JSON.stringify(accepted(late).payload)}::jsonb)`);
  expect(await again.run()).toBe(true);
  expect(handled).toContain(late);

  await endMargin();
  await again.run();
  handled = [];
  expect(await again.run()).toBe(false);
  expect(handled).toEqual([]);
});

test('an event that fails keeps no other one back, and one that cannot be read is quarantined once', async () => {
  const reading = await startReading();
  await settle(reading);
  await stopReading();
  const [bad, good] = [newIds(1), newIds(30)];
  await publishAll([...bad, ...good]);
  await publisher.pool.query(sql.typeAlias('void')`
    insert into sent_events (subject, payloads) values ('evt.settlement.accepted', '{"nothing": "known"}')`);
  await streams.purge('EVENTS');

  failing = bad;
  const again = await startReading();
  for (const _ of ['the loss', 'the next run']) {
    handled = [];
    await expect(again.run()).rejects.toThrow('not written');
    expect(good.filter((id) => !handled.includes(id))).toEqual([]);
  }
  const { rows } = await admin.query<{ subject: string; body: Buffer }>(
    'select subject, body from quote.quarantine',
  );
  expect(rows.map(({ subject, body }) => [subject, body.toString()])).toEqual([
    ['evt.settlement.accepted', '{"nothing":"known"}'],
  ]);

  // Until it has succeeded, it stays missed.
  await endMargin();
  await expect(again.run()).rejects.toThrow('not written');
  failing = [];
  expect(await again.run()).toBe(true);
  expect(handled).toContain(bad[0]);
  expect(await again.run()).toBe(false);
});

test('a publisher that does not answer is asked until it does', async () => {
  const reading = await startReading();
  await settle(reading);
  await stopReading();
  const missed = newIds(2);
  await publishAll(missed);
  await streams.purge('EVENTS');
  await publisher.serving.stop();
  const again = await startReading();
  await expect(again.run()).rejects.toMatchObject({ code: 'service_unavailable' });
  await endMargin();
  await expect(again.run()).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(await readMissed()).not.toBeNull();
  publisher.serving = startServing(await testBus.as('settlement'), publisher.pool);
  expect(await again.run()).toBe(true);
  expect(missed.filter((id) => !handled.includes(id))).toEqual([]);
  expect(await readMissed()).toBeNull();
});

test('of replicas that see a loss at once one records it, and all of them read', async () => {
  const reading = await startReading();
  await settle(reading);
  await stopReading();
  const missed = newIds(3);
  await publishAll(missed);
  await streams.purge('EVENTS');
  const replicas = [await startReading(), await startReading(), await startReading()];
  const before = await readMissed();
  expect(before).toBeNull();
  expect(await Promise.all(replicas.map(({ run }) => run()))).toEqual([true, true, true]);
  const since = await readMissed();
  expect(since).not.toBeNull();
  for (const { run } of replicas) expect(await run()).toBe(true);
  expect(await readMissed()).toEqual(since);
  expect(missed.filter((id) => !handled.includes(id))).toEqual([]);
  await endMargin();
  await replicas[0]!.run();
});

test('what was missed is over only after a reading that began when nothing could be added', async () => {
  const reading = await startReading();
  await settle(reading);
  await publishAll(newIds(1));
  await stopReading();
  await publishAll(newIds(1));
  await streams.purge('EVENTS');
  const again = await startReading();
  expect(await again.run()).toBe(true);
  // The margin ends during a reading.
  await admin.query(
    "update quote.stream_position set read_until = public.app_now() + interval '400 milliseconds'",
  );
  failing = [];
  const slow = publisher.pool.transaction(async (tx) => {
    await tx.query(sql.typeAlias('void')`lock table sent_events in access exclusive mode`);
    await tx.query(sql.typeAlias('void')`select pg_sleep(0.8)`);
  });
  expect(await again.run()).toBe(true);
  await slow;
  expect(await readMissed()).not.toBeNull();
  expect(await again.run()).toBe(true);
  expect(await readMissed()).toBeNull();
});

test('a service that has never read finds what the stream has lost since it exists', async () => {
  const missed = newIds(2);
  await publishAll(missed);
  await streams.purge('EVENTS');
  await admin.query('delete from quote.stream_position');
  const reading = await startReading();
  await reading.run();
  expect(await reading.run()).toBe(true);
  expect(missed.filter((id) => !handled.includes(id))).toEqual([]);
  await endMargin();
  await reading.run();
});

test('a caller gets what it reads from the stream, and nobody gets the events of others', async () => {
  const account_id = newId('acct');
  await publisher.pool.query(sql.typeAlias('void')`
    insert into sent_events (subject, payloads) values
      ('evt.settlement.accepted', ${JSON.stringify(accepted(newId('q')).payload)}::jsonb),
      ('evt.settlement.securityNoted', ${JSON.stringify({ account_id })}::jsonb)`);
  const since = new Date(Date.now() - 60_000).toISOString();
  const subjectsOf = async (user: 'quote' | 'identity' | 'webhook' | 'wallet') => {
    const page = await call(await testBus.as(user), settlement, 'listSentEvents', { since, after: null });
    return new Set(page.events.map(({ subject }) => subject));
  };
  expect(await subjectsOf('quote')).toEqual(new Set(['evt.settlement.accepted']));
  expect(await subjectsOf('webhook')).toEqual(new Set(['evt.settlement.accepted']));
  expect(await subjectsOf('identity')).toEqual(new Set(['evt.settlement.securityNoted']));
  expect(await subjectsOf('wallet')).toEqual(new Set());

  // Who asks in the name of another one does not get the answer, and may not name itself.
  const [thief, victim] = [await testBus.as('quote'), await testBus.as('identity')];
  const inbox = `${replyInbox('identity', 'settlement')}.x.1`;
  const [stolen, sent]: [string[], string[]] = [[], []];
  const refused = refusals(thief.nc);
  thief.nc.subscribe(inbox, {
    callback: (error, msg) => void (error === null && stolen.push(msg.string())),
  });
  victim.nc.subscribe(inbox, { callback: (_, msg) => void sent.push(msg.string()) });
  await Promise.all([thief.nc.flush(), victim.nc.flush()]);
  const input = { since, after: null };
  thief.nc.publish('int.settlement.listSentEvents', encode({ input }), { reply: inbox });
  await waitUntil(async () => sent.length > 0);
  expect(sent[0]).toContain(account_id);
  expect(stolen).toEqual([]);
  expect([...refused]).toEqual([`subscription ${inbox}`]);
  await expect(
    call(thief, settlement, 'listSentEvents', { ...input, caller: 'identity' } as never),
  ).rejects.toThrow('caller');
});

test('a stream that was made anew has lost what the old one had', async () => {
  const reading = await startReading();
  const before = newIds(2);
  await publishAll(before);
  await isHandled(before);
  await settle(reading);
  await stopReading();

  const missed = newIds(4);
  await publishAll(missed);
  await streams.delete('EVENTS');
  await ensureStreams({ servers: testBus.url, seed: testBus.seedOf('admin') });

  const again = await startReading();
  expect(await again.run()).toBe(true);
  expect(missed.filter((id) => !handled.includes(id))).toEqual([]);
  await endMargin();
  await again.run();
});

test('a service that is late has missed nothing', async () => {
  const reading = await startReading();
  await settle(reading);
  await stopReading();
  const late = newIds(5);
  await publishAll(late);
  const again = await startReading();
  expect(await again.run()).toBe(false);
  await isHandled(late);
});

test('jobs and events without a reader are not kept, others no longer than by the stream', async () => {
  await admin.query("update settlement.sent_events set sent_at = public.app_now() - interval '8 days'");
  const kept = newIds(2);
  await publishAll(kept);
  const { rows: others } = await admin.query<{ outbox_id: string }>(`
    insert into settlement.outbox (subject, msg_id, payload, next_at)
    select subject, subject, '{}', public.app_now() + interval '1 hour'
    from unnest(array['job.chain-submitter.settle', 'evt.identity.keysRevoked']) as other(subject)
    returning outbox_id`);
  await clearOutbox(
    publisher.pool,
    others.map(({ outbox_id }) => BigInt(outbox_id)),
  );
  await purgeSent(publisher.pool)();
  const { rows } = await admin.query<{ subject: string; payloads: unknown }>(
    'select subject, payloads from settlement.sent_events',
  );
  expect(rows.flatMap(({ payloads }) => payloads)).toMatchObject(kept.map((quote_id) => ({ quote_id })));
});
